import { z } from 'zod'
import { route } from './route.ts'

export const documentation = {
  page: route('GET', '/api/docs', {
    summary: 'This documentation as a page',
    access: 'admin',
    permission: 'console.use',
    reply: z.string(),
    raw: 'text/html'
  }),
  openapi: route('GET', '/api/docs/openapi.json', {
    summary: 'This documentation as OpenAPI 3.1',
    access: 'admin',
    permission: 'console.use',
    reply: z.record(z.string(), z.unknown()),
    raw: 'application/json'
  })
}
