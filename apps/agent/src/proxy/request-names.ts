import { parseAuthority } from './request-head.ts'

/** What is kept of a piece, so that a name in two pieces is seen: longer than any line that holds one. */
const TAIL = 1024
/** A `Host` line, however it is spaced, or a request line with a whole address; the name has to be there to its end. */
const NAMED = /(?<![^\r\n])(?:host[ \t]*:\s*|[!-~]+ http:\/\/)(\S+)(?=\s)/gi
const HEAD_END = /\n\r?\n/
const FIRST_LINE = /^[\r\n]*[^\r\n]* HTTP\/\d/
/** HTTP/2 without TLS: its names are compressed. */
const HTTP2_PREFACE = /^[\r\n]*PRI \* HTTP\/2/
const MAX_FIRST_LINE = 16_384

/**
 * Finds the host names in what a client sends through a tunnel without TLS: those of the first request and of all that
 * follow it, in whatever pieces they come.
 */
export class RequestNames {
  #tail = ''
  #first = ''
  /** What the first line is of; unknown while it is not whole. */
  protocol: 'unknown' | 'http1' | 'http2' | 'other' = 'unknown'
  /** Whether any request named a host, by a name and not by an address. */
  named = false
  /** Whether the head of the first request is whole. */
  headEnded = false

  /** The names that are whole with this piece. */
  read(chunk: Buffer): string[] {
    const piece = chunk.toString('latin1')
    if (this.protocol === 'unknown') this.#readFirstLine(piece)
    const text = this.#tail + piece
    const names: string[] = []
    for (const [, authority = ''] of text.matchAll(NAMED)) {
      const host = parseAuthority(authority.replace(/[/?#].*$/, '').replace(/^.*@/, ''), 80)?.host
      if (host !== undefined) names.push(host)
    }
    this.named ||= names.some(name => !/^[\d.]+$|:/.test(name))
    this.headEnded ||= HEAD_END.test(text)
    // Spaces are shortened, so that no run of them pushes the beginning of a line out.
    this.#tail = text.replaceAll(/[ \t]{2,}/g, ' ').slice(-TAIL)
    return names
  }

  #readFirstLine(piece: string): void {
    this.#first += piece
    const text = this.#first
    if (FIRST_LINE.test(text)) this.protocol = HTTP2_PREFACE.test(text) ? 'http2' : 'http1'
    else if (/[^\r\n][\r\n]/.test(text) || /^[\r\n]*[^!-~\r\n]/.test(text) || text.length > MAX_FIRST_LINE) {
      this.protocol = 'other'
    }
    if (this.protocol !== 'unknown') this.#first = ''
  }
}
