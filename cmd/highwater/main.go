// Command highwater simulates an Apache Kafka cluster and shows it on a page.
package main

import (
	"context"
	"os"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }
