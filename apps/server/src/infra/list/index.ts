/** A list is declared once. Its pages, its CSV and "all that match" come from the declaration. */
export { type CsvFile, answerList, columnsOf, csvFile, csvOf, mountList, sendCsv } from './csv.ts'
export { badCursor } from './cursor.ts'
export { defineList, type List, type ListInput, type Match } from './cursor.ts'
export { countRows, matchingIds, paginate } from './paginate.ts'
export { among, anyAmong, idsByText, NEWEST } from './select-ids.ts'
