package search

import (
	"strings"
	"sync"
)

// synonymGroups are groups of words that stand for each other in the names and descriptions of
// tools: what tools do, and what with. A word may be in several groups.
const synonymGroups = `
delete remove drop erase destroy discard purge clear clean uninstall trash
list show enumerate display all
create make add new insert generate build open
get fetch read retrieve obtain load view show lookup
download fetch get pull save export
search find query look locate lookup discover
update modify edit change patch alter set rename adjust
rename move
copy duplicate clone fork replicate
send post publish write submit deliver message
write save store put create
start run launch begin execute trigger invoke
stop end terminate kill cancel abort halt close finish
close complete finish resolve done
restart reboot rerun retry
cancel revoke undo abort
undo revert reset restore rollback
enable activate on
disable deactivate off
connect attach link join associate
disconnect detach unlink remove
upload attach import
check verify validate test inspect lint
analyze analyse examine inspect diagnose debug investigate
compare diff difference
convert transform translate change
calculate compute evaluate count
count number total amount how
summarize summary overview
watch monitor subscribe follow observe track
hide mute silence
assign allocate reserve
approve accept sign
merge combine join integrate
visualize plot draw chart graph render diagram
draw chart diagram graph
scrape crawl extract
wait sleep pause
log record
remember memory memorize store
repo repository
directory folder dir
file document
path location
picture image photo screenshot snapshot
screenshot capture
video recording screencast
mail email newsletter
newsletter broadcast campaign
message chat dm
comment note reply annotation discussion
issue ticket bug problem
error exception failure crash
task todo reminder item
meeting event appointment calendar
card ticket
user member person people teammate contact account
customer client buyer
team group
organization organisation company
project workspace
label tag
branch version
pr pull
mr merge
ci pipeline build workflow
deploy deployment release rollout
kubernetes k8s kubectl cluster
container docker
pod container
db database sql
table sheet spreadsheet
spreadsheet excel sheet csv
row record entry
column field property
query sql select
schema structure definition
index indexes
website site web webpage page url
internet web online
url link address uri
address location place
place restaurant shop business hotel poi
hotel accommodation stay listing apartment airbnb
route directions navigation way
distance travel
weather forecast temperature rain climate
time clock hour date
date day calendar
timezone zone
color colour
secret key token password credential
auth login authentication authenticate signin sign
permission role access policy
text string content
documentation docs doc manual reference guide
library package module dependency framework
code snippet script program source
command shell terminal bash
function method
phone mobile device smartphone android ios
app application
button element
press click tap push
type enter input fill
mouse pointer cursor
window browser tab
server host machine instance
vm instance droplet machine
price cost
order purchase
product article item
article page
paper publication research study
status state health
history log changelog timeline activity
statistics stats metrics analytics
performance speed slow fast
settings configuration config preferences options
environment env variable
archive compress zip
hash checksum digest
random uuid
translate language
size length
parent ancestor
child sub nested
emoji reaction react
attachment file
quick fast
`

// synonyms are the groups by word.
var synonyms = sync.OnceValue(func() map[string][]string {
	byWord := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(synonymGroups), "\n") {
		group := strings.Fields(line)
		for i, word := range group {
			byStem := string(stem([]byte(word)))
			byWord[byStem] = append(append(byWord[byStem], group[:i]...), group[i+1:]...)
		}
	}
	return byWord
})

// synonymsOf returns the synonyms of a word.
func synonymsOf(word string) []string { return synonyms()[string(stem([]byte(word)))] }

// stopWords do not tell what a query is about. They count only in queries without other words.
var stopWords = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(`a an and are as at be been but by can could did do does for from had has have how i if in into is
		it its let me my of on onto or our please should so some such than that the their them then there these they this those to
		us was we were what when where which who whom whose why will with would you your need want like use using via about am`) {
		all[word] = true
	}
	return all
})
