/** One place that breaks a rule. */
export type Violation = {
  rule: string
  /** The file below the root, with its line where one is known. */
  where: string
  what: string
}
