import type { Method } from '@netlet/contract'

type Request = { method: Method; url: string; body: unknown }
type Samples = { curl: string; python: string; node: string }

/** How to make a call with a key, which is in the variable NETLET_KEY. Nothing but what each of them comes with is needed. */
export const samplesOf = (request: Request): Samples => ({
  curl: curl(request),
  python: python(request),
  node: node(request)
})

function curl({ method, url, body }: Request): string {
  const lines = [
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    '-H "Authorization: Bearer $NETLET_KEY"',
    ...(body === undefined
      ? []
      : ['-H "Content-Type: application/json"', `-d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`])
  ]
  return ['curl', ...lines.map(line => `  ${line}`), `  "${url}"`].join(' \\\n')
}

function python({ method, url, body }: Request): string {
  const json = body === undefined ? [] : ['            "Content-Type": "application/json",']
  return [
    'import json, os',
    'from urllib.request import Request, urlopen',
    '',
    'request = Request(',
    `    ${JSON.stringify(url)},`,
    `    method="${method}",`,
    '    headers={',
    '        "Authorization": "Bearer " + os.environ["NETLET_KEY"],',
    ...json.map(line => line.slice(4)),
    '    },',
    ...(body === undefined ? [] : [`    data=json.dumps(${pythonText(body)}).encode(),`]),
    ')',
    'with urlopen(request) as reply:',
    '    print(json.load(reply)["data"])'
  ].join('\n')
}

function node({ method, url, body }: Request): string {
  const json = body === undefined ? [] : [`    'Content-Type': 'application/json'`]
  const headers = ['    Authorization: `Bearer ${process.env.NETLET_KEY}`', ...json].join(',\n')
  return [
    `const reply = await fetch(${quoted(url)}, {`,
    `  method: '${method}',`,
    '  headers: {',
    headers,
    `  }${body === undefined ? '' : ','}`,
    ...(body === undefined ? [] : [`  body: JSON.stringify(${JSON.stringify(body)})`]),
    '})',
    'const { code, data, msg } = await reply.json()',
    'if (code !== 2000) throw new Error(msg)',
    'console.log(data)'
  ].join('\n')
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** JSON as Python writes it. */
function pythonText(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonText).join(', ')}]`
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([name, inner]) => `${JSON.stringify(name)}: ${pythonText(inner)}`)
      .join(', ')}}`
  return JSON.stringify(value)
}
