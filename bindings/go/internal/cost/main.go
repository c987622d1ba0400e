// cost parses a URL and gets five components, COUNT times for each line of standard input, and prints the sum of the
// results.
//
//	go run ./internal/cost URL COUNT
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"

	"netlib.example/netlib"
)

func parse(text string, count int) (sum int, err error) {
	for i := 0; i < count; i++ {
		url, err := netlib.ParseURL(text)
		if err != nil {
			return 0, err
		}
		sum += len(url.Scheme()) + len(url.Host()) + int(url.Port()) + len(url.Path()) + len(url.Query())
		url.Close()
	}
	return sum, nil
}

func main() {
	count, err := strconv.Atoi(os.Args[2])
	for lines := bufio.NewScanner(os.Stdin); err == nil && lines.Scan(); {
		var sum int
		if sum, err = parse(os.Args[1], count); err == nil {
			fmt.Println(sum)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
