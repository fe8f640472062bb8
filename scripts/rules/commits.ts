import { spawnSync } from 'node:child_process'
import type { Violation } from './violation.ts'

const LONGEST_SUBJECT = 72

/** Commits since CONTRIBUTING.md was added whose subject is too long. Without a git history there are none. */
export function commitViolations(root: string): Violation[] {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout?.trim() ?? ''
  const first = git('log', '--diff-filter=A', '--format=%H', '--', 'CONTRIBUTING.md').split('\n').at(-1)
  if (!first) return []
  return git('log', '--no-merges', '--format=%h %s', `${first}..HEAD`)
    .split('\n')
    .map(line => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const)
    .filter(([, subject]) => subject.length > LONGEST_SUBJECT)
    .map(([commit, subject]) => ({
      rule: 'short-commit-subjects',
      where: commit,
      what: `has a subject of ${subject.length} characters; ${LONGEST_SUBJECT} are allowed.`
    }))
}
