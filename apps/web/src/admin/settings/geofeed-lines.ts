import type { GeofeedChange } from '@netlet/contract'

/** Does the editor say of this range what is proposed already? */
export const isTaken = (text: string, { kind, proposed, saved }: GeofeedChange): boolean => {
  const lines = text.split(/\r?\n/)
  return kind === 'removed' ? !lines.includes(saved ?? '') : lines.includes(proposed ?? '')
}

/** The editor's text with one change: other lines, comments among them, stay where they are. */
export function take(text: string, change: GeofeedChange): string {
  if (isTaken(text, change)) return text
  const { saved, proposed } = change
  const lines = text.split(/\r?\n/)
  const at = saved === null ? -1 : lines.indexOf(saved)
  if (proposed === null) return lines.toSpliced(at, 1).join('\n')
  // What was edited meanwhile is not there any more: the check before saving names a range that stands there twice.
  if (at >= 0) return lines.with(at, proposed).join('\n')
  return [...lines.slice(0, lines.findLastIndex(line => line.trim() !== '') + 1), proposed].join('\n')
}
