// cost parses URLs, and gets five components of each, once for each line of standard input, and prints the sum of the
// results. The URLs are the first argument with the numbers from 1 to COUNT at the end. With "own", Go's package net/url
// parses them.
//
//	go run ./internal/cost URL COUNT [own]
package main

import (
	"bufio"
	"fmt"
	"net/url"
	"os"
	"strconv"

	"netlib.example/netlib"
)

func parse(texts []string) (sum int, err error) {
	for _, text := range texts {
		parsed, err := netlib.ParseURL(text)
		if err != nil {
			return 0, err
		}
		sum += len(parsed.Scheme()) + len(parsed.Host()) + int(parsed.Port()) + len(parsed.Path()) + len(parsed.Query())
		parsed.Close()
	}
	return sum, nil
}

func parseWithOwn(texts []string) (sum int, err error) {
	for _, text := range texts {
		parsed, err := url.Parse(text)
		if err != nil {
			return 0, err
		}
		port, _ := strconv.Atoi(parsed.Port())
		sum += len(parsed.Scheme) + len(parsed.Hostname()) + port + len(parsed.EscapedPath()) + len(parsed.RawQuery)
	}
	return sum, nil
}

func main() {
	count, err := strconv.Atoi(os.Args[2])
	var texts []string
	for i := 1; i <= count; i++ {
		texts = append(texts, os.Args[1]+strconv.Itoa(i))
	}
	work := parse
	if len(os.Args) > 3 {
		work = parseWithOwn
	}
	for lines := bufio.NewScanner(os.Stdin); err == nil && lines.Scan(); {
		var sum int
		if sum, err = work(texts); err == nil {
			fmt.Println(sum)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
