import type { Question } from './resource.ts'

/** Dangerous batches on more rows than this ask the operator to type the number. */
const RISKY_ROWS = 10

/** A question about many rows. If it is dangerous, YES needs the number typed. */
export const risky = (question: Question, rows: number): Question =>
  question.danger ? ofMany(question, rows) : question

/** The same for harmless actions that reach many customers, to prevent a slip. */
export const ofMany = (question: Question, rows: number): Question =>
  rows > RISKY_ROWS ? { ...question, typed: rows } : question
