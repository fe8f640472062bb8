import { parseAuthority } from './request-head.ts'

/** What is kept of a piece, so that a name in two pieces is seen: longer than what stands from a line's beginning to its name's end. */
const TAIL = 1024
/** A request line up to the scheme of a whole address: sites read any scheme, and whatever blanks are before it. */
const METHOD = String.raw`[!-~]+[^!-~\r\n]+`
const HOST = String.raw`host[ \t]*:(?:[^!-~\r\n]|\r?\n(?=[ \t]))*`
const SCHEME = String.raw`[a-z][a-z\d+.-]*:\/\/`
const AT_LINE = String.raw`(?<![^\r\n])`
const ADDRESS = String.raw`[ \t]*${METHOD}${SCHEME}`
/**
 * A `Host` line, however it is spaced and folded, or a request line with a whole address; the name has to be there to its end.
 * No part matches what the next one may begin with: any search is over after one look at each byte.
 */
const NAMED = new RegExp(String.raw`${AT_LINE}(?:${HOST}([!-~]\S*)(?=\s)|${ADDRESS}([^\s/?#]+)(?=[\s/?#]))`, 'gi')
/** The same request line behind a body without a line end: no text is written so but one about requests. */
const BEHIND_A_BODY = /[A-Z]{3}[^!-~\r\n]+[A-Za-z][A-Za-z\d+.-]*:\/\/([^\s/?#]+)(?=[\s/?#])/g
/** A name, with what is before its `@`, that does not end within what is kept. */
const ENDLESS = new RegExp(String.raw`${AT_LINE}(?:${HOST}(?=[!-~])|${ADDRESS})[^\s/?#]{${TAIL / 2},}$`, 'i')
const HEAD_END = /\n\r?\n/
/**
 * In the first line, of which this is the end of what came so far: a version may be in two pieces. Sites that take HTTP
 * take it by the names of its relatives, too.
 */
const VERSION = /\s(?:HTTP|RTSP|ICE)\/\d/i
const VERSION_LENGTH = 7
/** HTTP/2 without TLS, at once or after an `Upgrade`: its names are compressed. */
const HTTP2_PREFACE = /PRI \* HTTP\/2/
/** What sites take for blanks: Python parts lines at the separators of ASCII and of Latin-1, too. */
const BLANK = String.raw`[\s\x1c-\x1f\x85]`
const BLANKS_BEFORE = new RegExp(`^${BLANK}+`)
/** A method and a blank: no other protocol's line is so long, and begins so. */
const REQUEST_BEGINS = new RegExp(String.raw`^[\w!#$%&'*+.^|~\x60-]+${BLANK}`)
/** A method that sites know by its name: they read names also behind a line without a version, as of HTTP/0.9. */
const KNOWN_METHOD = new RegExp(`^[A-Za-z_-]+${BLANK}`)
const MAX_FIRST_LINE = 16_384

const LONGEST_NAME = 256
/** Letters that may be those of a scheme, more than any name has. From their first one only: else each is looked at 256 times. */
const LONG_RUN = /(?<![a-z\d+.-])[a-z\d+.-]{257,}/gi
/** Blanks, and line ends within a folded line. */
const BLANKS = /(?:[^!-~\r\n]|\r?\n(?=[ \t])){2,}/g

/**
 * Finds the host names in what a client sends through a tunnel without TLS: those of the first request and of all that
 * follow it, in whatever pieces they come.
 */
export class RequestNames {
  #tail = ''
  /** The first line as far as it has come, its last characters, and how many bytes came with it. */
  #first = ''
  #lastOfFirst = ''
  #firstBytes = 0
  /**
   * What the first line is of; unknown while it is not whole. `maybe-http` is like a request without a version: sites may read
   * what follows as they read requests, but lines of other protocols look so, too.
   */
  protocol: 'unknown' | 'http1' | 'maybe-http' | 'other' = 'unknown'
  /** Whether requests are such that their names cannot be read. */
  hidden = false
  /** Whether any request named a host, by a name and not by an address. */
  named = false
  /** Whether the head of the first request is whole. */
  headEnded = false

  /** The names that are whole with this piece. */
  read(chunk: Buffer): string[] {
    const said = chunk.toString('latin1')
    // Empty lines and blanks may come before the first line.
    const piece = this.protocol === 'unknown' && this.#first === '' ? said.replace(BLANKS_BEFORE, '') : said
    if (this.protocol === 'unknown') this.#readFirstLine(piece)
    const text = this.#tail + piece
    const names: string[] = []
    for (const [, host = '', authority = host] of text.matchAll(NAMED)) names.push(...this.#namesOf(authority))
    for (const [, authority = ''] of text.matchAll(BEHIND_A_BODY)) names.push(...this.#namesOf(authority))
    this.hidden ||= ENDLESS.test(text) || HTTP2_PREFACE.test(text)
    this.headEnded ||= this.protocol === 'http1' && HEAD_END.test(text)
    // Runs are shortened, so that none pushes the beginning of a line out.
    const short = text.replaceAll(BLANKS, ' ').replaceAll(LONG_RUN, run => run.slice(0, 128) + run.slice(-128))
    this.#tail = short.slice(-TAIL)
    return names
  }

  /** More than one where sites differ in how they read it. */
  #namesOf(authority: string): string[] {
    const forms = authority.includes('%') ? [authority, decoded(authority)] : [authority]
    if (authority.includes('\\')) forms.push(...forms.map(form => form.replace(/\\.*$/s, '')))
    return forms.map(form => {
      // Sites do not care which port is said. `s`: `%0a` is a line end by now, and `.*$` would try each place before it.
      const named = form
        .replace(/[/?#].*$/s, '')
        .replace(/^.*@/s, '')
        .replace(/^(\[[^\]]*\]|[^:]*):.*$/s, '$1')
      const name = parseAuthority(named, 80)?.host
      this.named ||= name !== undefined && !/^[\d.]+$|:/.test(name)
      // A site that answers for all names below its own takes some that are none, too.
      return name ?? withoutEndDots(named.slice(-LONGEST_NAME).toLowerCase())
    })
  }

  /** Looks at what is new only: a line may come in thousands of pieces. */
  #readFirstLine(line: string): void {
    this.#firstBytes += line.length
    const end = line.search(/[\r\n]/)
    const more = end < 0 ? line : line.slice(0, end)
    const isVersion = VERSION.test(this.#lastOfFirst + more)
    this.#lastOfFirst = (this.#lastOfFirst + more).slice(-VERSION_LENGTH)
    this.#first += more
    if (isVersion) {
      this.protocol = 'http1'
    } else if (end >= 0) this.protocol = KNOWN_METHOD.test(this.#first) ? 'maybe-http' : 'other'
    else if (/^[^\t -~]/.test(more) && this.#first === more) this.protocol = 'other'
    else if (this.#firstBytes > MAX_FIRST_LINE) {
      if (REQUEST_BEGINS.test(this.#first)) this.hidden = true
      else this.protocol = 'other'
    }
    if (this.protocol !== 'unknown') this.#first = ''
  }
}

const decoded = (text: string): string =>
  text.replaceAll(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

function withoutEndDots(name: string): string {
  let end = name.length
  while (name[end - 1] === '.') end--
  return name.slice(0, end)
}
