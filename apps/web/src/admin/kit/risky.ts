import type { Question } from './resource.ts'

/** What takes something from more rows than this asks to type their number. */
const RISKY_ROWS = 10

/** A question about many rows; where it is dangerous, YES can be pressed once their number was typed. */
export const risky = (question: Question, rows: number): Question =>
  question.danger ? ofMany(question, rows) : question

/** The same of what takes nothing, but reaches so many customers at once that no slip of the hand may start it. */
export const ofMany = (question: Question, rows: number): Question =>
  rows > RISKY_ROWS ? { ...question, typed: rows } : question
