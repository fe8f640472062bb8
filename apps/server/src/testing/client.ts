import type { Envelope } from '@netlet/contract'

export type TestReply<T> = Envelope<T> & { status: number; headers: Headers }

export type TestClient = {
  get<T = unknown>(path: string, headers?: Record<string, string>): Promise<TestReply<T>>
  post<T = unknown>(path: string, body?: unknown, headers?: Record<string, string>): Promise<TestReply<T>>
  put<T = unknown>(path: string, body?: unknown, headers?: Record<string, string>): Promise<TestReply<T>>
  delete<T = unknown>(path: string, headers?: Record<string, string>, body?: unknown): Promise<TestReply<T>>
  /** The bare reply, without following redirects. Cookies are kept. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  cookies: Map<string, string>
}

/**
 * A test's browser: keeps cookies and reads our envelope; other replies come as `data`. @param ip its address for the
 * shop, by X-Forwarded-For
 */
export function createTestClient(baseUrl: string, { ip }: { ip?: string } = {}): TestClient {
  const cookies = new Map<string, string>()

  async function send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    if (ip) headers.set('x-forwarded-for', ip)
    if (cookies.size > 0) headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    const response = await fetch(new URL(path, baseUrl), { redirect: 'manual', ...init, headers })
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const [name = '', value = ''] = pair.split('=')
      if (value === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return response
  }

  async function call<T>(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string> = {}
  ): Promise<TestReply<T>> {
    const response = await send(path, {
      method,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    const envelope = isJson
      ? (JSON.parse(text) as Envelope<T>)
      : { code: response.status, data: text as unknown as T, msg: '' }
    return { ...envelope, status: response.status, headers: response.headers }
  }

  return {
    get: (path, headers) => call('GET', path, undefined, headers),
    post: (path, body, headers) => call('POST', path, body, headers),
    put: (path, body, headers) => call('PUT', path, body, headers),
    delete: (path, headers, body) => call('DELETE', path, body, headers),
    fetch: send,
    cookies
  }
}
