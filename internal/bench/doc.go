// Bench measures Mixtape against what it stands on and against its neighbour, and prints one table with ratios and bars.
//
//	go run .              measures every row; a few minutes
//	go run . -run Replay  measures the rows whose work matches
//	go run . -markdown    prints the table as Markdown
//	go test .             runs every row once, and checks that all sides give the same answers
//	go test -bench .      the same rows as ordinary benchmarks, for profiles and benchstat
//
// Every row has two sides, Mixtape and a base: a transport in memory that answers with the same bytes, go-vcr v4, one pass
// of encoding/json over the same bytes. Both sides of a row are measured in turn in the same run, several times, and the
// fastest run of each counts: what else happens on the machine only ever slows a run down. Each answer that a side gives
// is compared with what was recorded, inside the loop of both sides.
package main
