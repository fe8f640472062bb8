import { refusals } from '@netlet/contract'
import { describeCalls, DOMAIN_TITLES, whoMay, type ApiCall } from './calls.ts'
import { type Components, type JsonSchema, exampleOf, resolve } from './schemas.ts'

type Json = Record<string, unknown>

/** The whole API as an OpenAPI 3.1 document. */
export function openApiDocument(serverUrl: string): Json {
  const { calls, components } = describeCalls()
  const paths: Record<string, Json> = {}
  for (const call of calls) {
    const path = call.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [call.method.toLowerCase()]: operationOf(call, components) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Netlet',
      version: '1',
      description:
        'Every JSON response is { code, data, msg }: code 2000 is a success, any other code equals the HTTP status. Paths work with and without a trailing slash.'
    },
    servers: [{ url: serverUrl }],
    tags: Object.entries(DOMAIN_TITLES).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: { ...components, Refusal: refusal },
      responses: Object.fromEntries(
        Object.entries(REFUSED).map(([name, { description, status }]) => [name, refusedWith(description, status)])
      ),
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'netlet_session',
          description: 'Set by a login. Over https, its name starts with __Host-'
        },
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            "A customer's API key (nlk_…) can make the calls of its scopes. An operator's API token (nlo_…) can make the calls of its permissions"
        }
      }
    }
  }
}

export const refusal: JsonSchema = {
  type: 'object',
  required: ['code', 'data', 'msg'],
  properties: {
    code: {
      type: 'integer',
      description: 'The HTTP status',
      enum: [...new Set(Object.values(refusals).map(([status]) => status))]
    },
    data: {
      description: 'Details, if any',
      anyOf: [
        {
          type: 'object',
          properties: {
            reason: { type: 'string', description: 'The reason, as a key that stays the same when the text changes' },
            params: { type: 'object', description: 'Values in the text of the reason' },
            errors: {
              type: 'object',
              description: 'Each invalid field, and why',
              additionalProperties: { type: 'string' }
            },
            field_reasons: {
              type: 'object',
              description: 'For each field the key of its message, and what is in it',
              additionalProperties: {
                type: 'object',
                required: ['reason', 'params'],
                properties: { reason: { type: 'string' }, params: { type: 'object' } }
              }
            },
            require_captcha: { type: 'boolean' }
          }
        },
        { type: 'null' }
      ]
    },
    msg: { type: 'string', minLength: 1, description: 'A sentence for people' }
  }
}

const REFUSED = {
  Invalid: { status: 400, description: 'The request is invalid; data.errors names the fields' },
  Unauthorized: { status: 401, description: 'Not logged in' },
  Forbidden: { status: 403, description: 'Logged in, but not allowed to do this, or sent from another site' },
  NotFound: { status: 404, description: 'It does not exist, or it is not yours' },
  TooLarge: { status: 413, description: 'The body is too large' },
  WrongType: { status: 415, description: 'The body is not JSON' },
  Refused: { status: 0, description: 'Another refusal: 409, 429, 500 or 503, with the reason as msg' }
}

export const refusedWith = (description: string, status: number) => ({
  description,
  content: {
    'application/json': {
      schema: status
        ? { allOf: [{ $ref: '#/components/schemas/Refusal' }, { properties: { code: { const: status } } }] }
        : { $ref: '#/components/schemas/Refusal' }
    }
  }
})

export const operationId = ({ id }: Pick<ApiCall, 'id'>): string => id.replace('.', '_')

const keyOf = ({ idempotencyKey }: ApiCall): Json[] =>
  idempotencyKey
    ? [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: idempotencyKey === 'required',
          description: 'A repeat with the same key gets the first response',
          schema: { type: 'string', pattern: '^[!-~]{1,200}$' }
        }
      ]
    : []

export function operationOf(call: ApiCall, components: Components): Json {
  const response = (name: keyof typeof REFUSED) => ({ $ref: `#/components/responses/${name}` })
  return {
    operationId: operationId(call),
    tags: [call.domain],
    summary: call.summary,
    description: `${whoMay(call)}.`,
    security: securityOf(call),
    parameters: [
      ...parametersOf(call.params, 'path', components),
      ...parametersOf(call.query, 'query', components),
      ...keyOf(call)
    ],
    ...(call.body && {
      requestBody: {
        required: !call.bodyOptional,
        content: { 'application/json': { schema: call.body, example: exampleOf(call.body, components) } }
      }
    }),
    responses: {
      ...successOf(call),
      ...((call.query || call.body) && { 400: response('Invalid') }),
      ...(call.access !== 'public' && { 401: response('Unauthorized') }),
      403: response('Forbidden'),
      ...(call.params && { 404: response('NotFound') }),
      ...(call.body && { 413: response('TooLarge'), 415: response('WrongType') }),
      default: response('Refused')
    }
  }
}

function securityOf(call: ApiCall): Json[] {
  if (call.access === 'public') return [{}, { session: [] }]
  return call.scope || call.takesTokens ? [{ session: [] }, { apiKey: [] }] : [{ session: [] }]
}

function parametersOf(schema: JsonSchema | undefined, where: 'path' | 'query', components: Components): Json[] {
  if (!schema) return []
  const { properties = {}, required = [] } = resolve(schema, components)
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema: property,
    example: exampleOf(property, components, name)
  }))
}

function successOf(call: ApiCall): Json {
  if (call.raw === 'redirect') return { 302: { description: 'Redirects to a page of the shop' } }
  if (call.raw) return { 200: { description: call.summary, content: { [call.raw]: { schema: call.reply } } } }
  const schema = {
    type: 'object',
    required: ['code', 'data', 'msg'],
    properties: { code: { const: 2000 }, data: call.reply, msg: { type: 'string' } }
  }
  return { 200: { description: 'Success', content: { 'application/json': { schema } } } }
}
