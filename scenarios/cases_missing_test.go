package scenarios_test

import "strings"

// missing are cases of covered topics that have no scenario yet.
var missing = strings.Fields(`K002 K004 K005 K008 K050 K051 K052 K054 K055 K057 K058 K059 K060 K061 K062 K064 K065 K066 K067 K069 K071 K073 K075 K079 K083 K084 K085 K086 K087 K090 K091 K092 K093 K097 K098 K100 K102 K107 K109 K125`)
