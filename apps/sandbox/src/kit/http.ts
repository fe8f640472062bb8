import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ZodError } from 'zod'

/** Parses form posts as URLSearchParams, accepts empty JSON bodies, and answers 400 to what zod refuses. */
export function prepare(app: FastifyInstance): void {
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, new URLSearchParams(String(body)))
  )
  app.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) =>
      new Response(new Uint8Array(body), {
        headers: { 'content-type': request.headers['content-type'] ?? '' }
      })
        .formData()
        .catch(() => {
          throw Object.assign(new Error('The form cannot be read.'), { statusCode: 400 })
        })
  )
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(String(body)))
    } catch {
      done(Object.assign(new Error('The body is no JSON.'), { statusCode: 400 }))
    }
  })
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    if (error instanceof ZodError)
      return reply.code(400).send({
        error: error.issues.map(issue => [issue.path.join('.'), issue.message].filter(Boolean).join(': ')).join('; ')
      })
    const status = error.statusCode ?? 500
    if (status >= 500) console.error(error)
    return reply.code(status).send({ error: error.message })
  })
}

/** These pages run no scripts, so that mails and cart notes cannot bring in any. */
export const sendPage = (reply: FastifyReply, markup: string, status = 200) =>
  reply
    .code(status)
    .header(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; img-src * data:; frame-src 'self'"
    )
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(markup)

/** The fields of a form post; none if the body is anything else. */
export const formOf = (body: unknown): URLSearchParams =>
  body instanceof URLSearchParams ? body : new URLSearchParams()
