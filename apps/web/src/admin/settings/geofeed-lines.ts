import type { GeofeedChange } from '@netlet/contract'

/** Does the text already contain the proposed change? */
export const isTaken = (text: string, { kind, proposed, saved }: GeofeedChange): boolean => {
  const lines = text.split(/\r?\n/)
  return kind === 'removed' ? !lines.includes(saved ?? '') : lines.includes(proposed ?? '')
}

/** The text with one change. Other lines and comments stay in place. */
export function take(text: string, change: GeofeedChange): string {
  if (isTaken(text, change)) return text
  const { saved, proposed } = change
  const lines = text.split(/\r?\n/)
  const at = saved === null ? -1 : lines.indexOf(saved)
  if (proposed === null) return lines.toSpliced(at, 1).join('\n')
  // If the line was edited, it is not found and the proposal is appended. The check before saving reports duplicates.
  if (at >= 0) return lines.with(at, proposed).join('\n')
  return [...lines.slice(0, lines.findLastIndex(line => line.trim() !== '') + 1), proposed].join('\n')
}
