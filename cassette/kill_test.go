package cassette_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mixtape-go/mixtape/cassette"
)

// tempPrefix begins the names of the files that a save writes first.
const tempPrefix = ".mixtape-"

// killBudget ends TestKilledWhileSaving early on a machine, or under a detector of races, where it would be slow.
const killBudget = 20 * time.Second

// A process that is killed at any moment leaves the old cassette or the new one, whole. A child saves one generation
// after another, as fast as it can, and says so after each; whenever it is killed, the file holds the generation that
// it spoke of last, or the next. MIXTAPE_KILLS says how often, whatever time that takes.
func TestKilledWhileSaving(t *testing.T) {
	kills, budget := 1000, killBudget
	if testing.Short() {
		kills = 50
	}
	if s := os.Getenv("MIXTAPE_KILLS"); s != "" {
		var err error
		if kills, err = strconv.Atoi(s); err != nil {
			t.Fatalf("MIXTAPE_KILLS: %v", err)
		}
		budget = math.MaxInt64
	}
	start := time.Now()
	for i, name := range []string{"a.json", "a.jsonl"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			k := killer{t: t, path: filepath.Join(t.TempDir(), name), random: rand.New(rand.NewPCG(seed, 0))}
			for k.kills < (kills+i)/2 && time.Since(start) < budget && !t.Failed() {
				k.kill()
			}
			f := newT(t, "TestOrphans")
			cassette.Use(f, "gone.json", cassette.Dir(filepath.Dir(k.path)), cassette.Replay)
			f.end()
			if strings.Contains(f.errorText(), tempPrefix) {
				t.Errorf("a temporary file is taken for a cassette: %s", f.errorText())
			}
			t.Logf("%d kills with the seed %#x, spread over %v: generation %d is in the file; %d left a temporary file, %d came between the save and its announcement",
				k.kills, seed, k.spread, k.saved, k.torn, k.ahead)
		})
	}
}

// killer starts the process that saves a cassette at path, and kills it.
type killer struct {
	t      *testing.T
	path   string
	random *rand.Rand
	spread time.Duration // what two generations take, as the first child showed

	saved  int // the generation in the file; 0 where there is none
	litter int // temporary files that stand beside it
	kills  int
	torn   int // kills that left a temporary file
	ahead  int // kills after which the file was newer than the child had said
}

// kill lets a child save for a random while, kills it, and checks what is there. The while synchronises nothing: it
// spreads the kills over all that a save does, and each outcome is checked, whenever the kill came. The first child
// shows how long a save takes.
func (k *killer) kill() {
	k.t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestSaveUntilKilled$")
	cmd.Env = append(os.Environ(), "SAVE_PATH="+k.path, fmt.Sprint("SAVE_AFTER=", k.saved))
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	var (
		announced int
		start     time.Time // of the first announcement
		killed    *time.Timer
	)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			k.t.Errorf("the child says %s", lines.Text())
			continue
		}
		announced = n
		if start.IsZero() {
			start = time.Now()
		}
		if k.spread == 0 && n == 2 {
			k.spread = time.Since(start)
		}
		if killed == nil && k.spread > 0 {
			killed = time.AfterFunc(time.Duration(k.random.Int64N(int64(k.spread))), func() { cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); killed == nil || killed.Stop() {
		k.t.Fatalf("the child ended by itself: %v", err)
	}
	k.kills++
	k.check(announced)
}

// check looks at what a kill left: the generation that was announced last or the one after it.
func (k *killer) check(announced int) {
	k.t.Helper()
	k.saved = k.generation()
	if k.saved != announced && k.saved != announced+1 {
		k.t.Errorf("the file holds generation %d; the child had saved %d", k.saved, announced)
	}
	if k.saved > announced {
		k.ahead++
	}
	entries, err := os.ReadDir(filepath.Dir(k.path))
	if err != nil {
		k.t.Fatal(err)
	}
	litter := 0
	for _, e := range entries {
		switch name := e.Name(); {
		case name == filepath.Base(k.path):
		case strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, ".tmp"):
			litter++
		default:
			k.t.Errorf("%s was left", name)
		}
	}
	if litter > k.litter {
		k.torn++
	}
	k.litter = litter
}

// generation returns which generation the file holds, and fails the test unless it is whole.
func (k *killer) generation() int {
	k.t.Helper()
	file, err := cassette.Load(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	if err != nil {
		k.t.Fatal(err)
	}
	if file.Len() != 1 {
		k.t.Fatalf("the file holds %d interactions", file.Len())
	}
	in := file.Interaction(0)
	var asked struct{ Messages []struct{ Content string } }
	if err := json.Unmarshal(in.HTTP.Request.Bytes, &asked); err != nil {
		k.t.Fatal(err)
	}
	n, err := strconv.Atoi(asked.Messages[0].Content)
	if err != nil {
		k.t.Fatal(err)
	}
	if got, want := string(in.HTTP.Response.Bytes), completion(generation(n)); got != want {
		k.t.Fatalf("the answer of generation %d has %d bytes, want %d, or differs", n, len(got), len(want))
	}
	return n
}

// generation returns what the model says in the n-th recording: 100 KB and 200 KB in turn.
func generation(n int) string {
	return strings.Repeat(fmt.Sprintf("This is generation %08d. ", n), (1+n%2)*100_000/30)
}

// TestSaveUntilKilled is what TestKilledWhileSaving runs in a process of its own.
func TestSaveUntilKilled(t *testing.T) {
	path := os.Getenv("SAVE_PATH")
	if path == "" {
		t.Skip("it is run, and killed, by TestKilledWhileSaving")
	}
	n, err := strconv.Atoi(os.Getenv("SAVE_AFTER"))
	if err != nil {
		t.Fatal(err)
	}
	for ; ; n++ {
		if _, err := fmt.Println(n); err != nil {
			t.Fatal(err) // whoever kills it is gone
		}
		s, err := cassette.Open(path, cassette.Record)
		if err != nil {
			t.Fatal(err)
		}
		ask(t, s.Context(t.Context()), answering(generation(n+1)).client(), fmt.Sprint(n+1))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
