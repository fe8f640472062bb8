import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { type PageHead, withHead } from './page-head.ts'

type Made = { etag: string; plain: Buffer; br: Buffer; gzip: Buffer }

/** Clients can invent addresses, so both bounds are needed. */
const MOST_PAGES = 200
const MOST_BYTES = 8 * 1024 * 1024

/** Sends the built page with the head for its address, and caches the compressed result. */
export function builtPage(path: string) {
  const made = new LRUCache<string, Made>({
    max: MOST_PAGES,
    maxSize: MOST_BYTES,
    sizeCalculation: ({ plain, br, gzip }) => plain.length + br.length + gzip.length
  })
  const make = async (head: PageHead): Promise<Made> => {
    const { mtimeMs } = await stat(path)
    const key = `${mtimeMs} ${JSON.stringify(head)}`
    const known = made.get(key)
    if (known) return known
    const plain = Buffer.from(withHead(await readFile(path, 'utf8'), head))
    const page = {
      etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
      plain,
      br: await promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
      gzip: await promisify(gzip)(plain)
    }
    made.set(key, page)
    return page
  }
  return async (request: FastifyRequest, reply: FastifyReply, head: PageHead): Promise<FastifyReply> => {
    const page = await make(head)
    reply
      .code(head.status)
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('vary', 'accept-encoding')
      .header('etag', page.etag)
    if (head.status === 200 && request.headers['if-none-match']?.includes(page.etag)) return reply.code(304).send()
    const accepted = request.headers['accept-encoding'] ?? ''
    const encoding = (['br', 'gzip'] as const).find(name =>
      new RegExp(`\\b${name}\\b(?!;\\s*q=0(?:\\.0*)?(?:,|$))`).test(accepted)
    )
    if (!encoding) return reply.send(page.plain)
    return reply.header('content-encoding', encoding).send(page[encoding])
  }
}
