import { address, ApiError, unwrap, type Endpoint } from '../../api/client.ts'

/** Milliseconds: a large export takes its time. */
const TIMEOUT = 30_000

/** A part of a file's name that says when it was made: '20260615-080000'. */
export const stamp = (now: Date): string => now.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')

/** Fetches a call that answers with CSV. @throws ApiError where it answers with anything else */
export async function fetchCsv(route: Endpoint, { query, body }: { query?: object; body?: object }): Promise<Blob> {
  let response: Response
  try {
    response = await fetch(address(route.path, {}, query), {
      method: route.method,
      credentials: 'same-origin',
      ...(body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(TIMEOUT)
    })
  } catch (error) {
    throw new ApiError(error instanceof DOMException && error.name === 'TimeoutError' ? 'timeout' : 'network', '')
  }
  if (response.ok && response.headers.get('content-type')?.includes('csv')) return response.blob()
  unwrap(response.status, await response.text())
  throw new ApiError('format', '', response.status)
}

/** Hands a file to the browser. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
