import { ApiError } from '../../api/client.ts'
import { t, type Key } from '../../i18n/account.ts'
import { failureText } from '../../i18n/failures.ts'

const byStatus: Record<number, Key> = {
  401: 'export.401',
  403: 'export.403',
  404: 'export.404',
  500: 'export.500'
}

/** What to say when the lines of an order could not be fetched: the server's words, or by its status. */
export function exportFailure(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error && error.message ? error.message : t('export.failed')
  if (error.message) return failureText(error)
  if (error.kind === 'format' && error.status === 200) return t('export.malformed')
  if (error.status === 0) return t('export.noData')
  const known = byStatus[error.status]
  return known ? t(known) : t('export.status', { status: error.status })
}

/** The lines of a reply. @throws with the words to show where there are none. */
export function linesOf(reply: { proxy_lines?: unknown } | null | undefined): string[] {
  const lines = reply?.proxy_lines
  if (!Array.isArray(lines)) throw new Error(t('export.malformed'))
  if (lines.length === 0) throw new Error(t('proxy.none'))
  return lines.map(String)
}

/** A name that a file can have, whatever the server sent. */
export const fileName = (name: string | null | undefined, orderId: number) =>
  name?.replaceAll(/[^\w.\-() ]/g, '_') || `order_${orderId}_proxies.txt`

/** Hands a text to the browser as a file. */
export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
