import { ApiError } from '../../api/client.ts'

const byStatus: Record<number, string> = {
  401: 'Unauthorized: Please login again',
  403: 'Forbidden: No permission to access this order',
  404: 'Order not found or no proxy data',
  500: 'Server error: Please try again later'
}

/** What to say when the lines of an order could not be fetched: the server's words, or by its status. */
export function exportFailure(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error && error.message ? error.message : 'Export failed'
  if (error.message) return error.message
  if (error.kind === 'format' && error.status === 200) return 'Invalid response format from server'
  if (error.status === 0) return 'Failed to get proxy data'
  return byStatus[error.status] ?? `Failed to get proxy data (${error.status})`
}

/** The lines of a reply. @throws with the words to show where there are none. */
export function linesOf(reply: { proxy_lines?: unknown } | null | undefined): string[] {
  const lines = reply?.proxy_lines
  if (!Array.isArray(lines)) throw new Error('Invalid response format from server')
  if (lines.length === 0) throw new Error('No proxy data found')
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
