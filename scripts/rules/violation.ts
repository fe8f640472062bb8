/** A place that violates a rule. */
export type Violation = {
  rule: string
  /** The file's path below the root, with the line if known. */
  where: string
  what: string
}
