import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { formOf, sendPage } from '../kit/http.ts'
import type { Catcher } from './catcher.ts'
import { answerWrongly, FAULTS, isFault, type Fault } from './faults.ts'
import { catcherPage } from './pages.ts'

const FaultBody = z.object({
  kind: z.enum(Object.keys(FAULTS) as [Fault, ...Fault[]]),
  next: z.number().int().min(0).max(100).default(1)
})

/** A customer's own server for the shop's webhooks: it verifies, stores and shows them, and fails on request. */
export async function hookRoutes(app: FastifyInstance, catcher: Catcher): Promise<void> {
  let fault: { kind: Fault; next: number } | null = null
  const setFault = (kind: Fault, next: number) => (fault = next > 0 ? { kind, next } : null)

  app.get('/hooks', async (_request, reply) => sendPage(reply, catcherPage(catcher, fault)))
  app.get('/hooks.json', async (_request, reply) => reply.header('cache-control', 'no-store').send(catcher.list()))
  app.delete('/hooks.json', async (_request, reply) => {
    await catcher.clear()
    return reply.code(204).send()
  })
  app.post('/hooks/secret', async (request, reply) => {
    await catcher.setSecret((formOf(request.body).get('secret') ?? '').trim().slice(0, 500))
    return reply.redirect('/hooks', 303)
  })
  app.post('/hooks/fault', async (request, reply) => {
    const form = formOf(request.body)
    const kind = form.get('kind')
    const next = Number(form.get('next') ?? 1)
    if (isFault(kind)) setFault(kind, Number.isInteger(next) ? Math.min(100, Math.max(0, next)) : 1)
    return reply.redirect('/hooks', 303)
  })
  app.post('/sandbox/hooks/faults', async request => {
    const { kind, next } = FaultBody.parse(request.body)
    setFault(kind, next)
    return { fault }
  })

  await app.register(async scope => {
    // The signature covers the exact text of the body.
    scope.removeContentTypeParser('application/json')
    scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    scope.post<{ Params: { name: string } }>('/hooks/in/:name', async (request, reply) => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
      )
      await catcher.add(request.params.name, typeof request.body === 'string' ? request.body : '', headers)
      if (!fault) return { caught: true }
      const { kind, next } = fault
      setFault(kind, next - 1)
      return answerWrongly(reply, kind)
    })
  })
}
