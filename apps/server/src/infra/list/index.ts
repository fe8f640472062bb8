/** A list is declared once. Its pages, its CSV and "all that match" come from the declaration. */
export { csvFile, csvOf, sendCsv, type CsvFile } from './csv.ts'
export { badCursor } from './cursor.ts'
export { defineList, type List, type ListInput, type Match } from './list.ts'
export { matchingIds } from './matching-ids.ts'
export { answerList, columnsOf, mountList } from './mount-list.ts'
export { countRows, paginate } from './paginate.ts'
export { among, anyAmong, idsByText, NEWEST } from './select-ids.ts'
