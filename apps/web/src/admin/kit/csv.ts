import { address, ApiError, call, unwrap, type Endpoint } from '../../api/client.ts'

/** Milliseconds. A large export takes a while. */
const TIMEOUT = 30_000

/** A timestamp for file names: '20260615-080000'. */
export const stamp = (now: Date): string => now.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')

/** Fetches a CSV. @throws ApiError if the answer is not CSV */
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

/**
 * Lets the browser download a CSV of any length, with its own progress and without our timeout. We first request one
 * row, because the browser would not show why the server refuses.
 */
export async function download(name: string, route: Endpoint, query: Record<string, string>): Promise<void> {
  await fetchFirst(route, query)
  follow(name, address(route.path, {}, query))
}

const fetchFirst = (route: Endpoint, { format: _csv, ...query }: Record<string, string>) =>
  (call as (route: Endpoint, input: object) => Promise<unknown>)(route, { query: { ...query, limit: 1 } })

export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  follow(name, url)
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

function follow(name: string, url: string): void {
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
}
