import { readFile } from 'node:fs/promises'

export type Env = Readonly<Record<string, string | undefined>>

/** The setting that lists environment files, like systemd's `EnvironmentFile=`. Later files override earlier ones. */
const FILES = 'AGENT_SETTINGS_FILES'

/**
 * Parses `NAME=value` lines as systemd does: quotes, backslashes and continued lines, without variables in values. Other lines are
 * skipped.
 */
export function parseSettings(text: string): Record<string, string> {
  const found: Record<string, string> = {}
  const line = /^[ \t]*([A-Za-z_]\w*)[ \t]*=[ \t]*((?:'[^']*'|"(?:\\[^]|[^"\\])*"|\\[^]|[^\n'"\\])*)/
  let rest = text.replaceAll('\r\n', '\n')
  while (rest !== '') {
    const match = /^[ \t]*[#;]/.test(rest) ? null : line.exec(rest)
    if (match !== null) found[match[1] ?? ''] = unquoted(match[2] ?? '')
    const end = rest.indexOf('\n', match?.[0].length ?? 0)
    rest = end < 0 ? '' : rest.slice(end + 1)
  }
  return found
}

function unquoted(text: string): string {
  let value = ''
  // Trailing blanks count only inside quotes.
  let kept = 0
  for (const [piece = ''] of text.matchAll(/'[^']*'|"(?:\\[^]|[^"\\])*"|\\[^]|[^'"\\]/g)) {
    if (piece.startsWith("'")) value += piece.slice(1, -1)
    else if (piece.startsWith('"'))
      value += piece.slice(1, -1).replace(/\\([\n"\\`$])/g, (_, one: string) => after(one))
    else if (piece.startsWith('\\')) value += after(piece.slice(1))
    else {
      value += piece
      if (piece === ' ' || piece === '\t') continue
    }
    kept = value.length
  }
  return value.slice(0, kept)
}

/** A backslash at the end of a line continues it. */
const after = (character: string): string => (character === '\n' ? '' : character)

async function readFiles(list: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const name of list.split(',').map(part => part.trim().replace(/^-/, ''))) {
    if (name === '') continue
    try {
      Object.assign(found, parseSettings(await readFile(name, 'utf8')))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return found
}

/** Knows which settings came from files, so that a setting removed from them disappears. */
export class SettingsFiles {
  readonly #env: Env
  readonly #names: readonly string[]

  private constructor(env: Env, names: readonly string[]) {
    this.#env = env
    this.#names = names
  }

  /** @param env this process' environment, which was made from the files in their present state */
  static async of(env: Env): Promise<SettingsFiles> {
    const found = await readFiles(env[FILES] ?? '').catch(() => ({}))
    return new SettingsFiles(env, Object.keys(found))
  }

  /** The environment with the files' present settings. @throws Error if a file cannot be read */
  async read(): Promise<Record<string, string>> {
    const env = Object.fromEntries(
      Object.entries(this.#env).flatMap(([name, value]) =>
        value === undefined || this.#names.includes(name) ? [] : [[name, value] as const]
      )
    )
    return { ...env, ...(await readFiles(this.#env[FILES] ?? '')) }
  }
}
