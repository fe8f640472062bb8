import { nextTurn } from '../turns.ts'

/** Names released in one turn of the loop. */
const NAMES_A_TURN = 2000
/** A table grows by one synchronous rebuild, so many small tables keep each rebuild short. */
const TABLES = 256
const TABLE_BITS = 8
const LEAST_SLOTS = 16
/** Numbers of one page. All its names get the same room. */
const PAGE_BITS = 10
const PAGE = 1 << PAGE_BITS
/** Room in bytes; longer names get twice as much, and so on. */
const LEAST_ROOM = 16
const DOT = 46
/** Shared by all lookups, which are synchronous. */
const above: number[] = []

/** Names by number: bytes, lengths, hashes, and how many sets hold each. */
type Page = { room: number; bytes: Buffer; lengths: Uint16Array; hashes: Int32Array; holders: Int32Array }
/** A hash table with open addressing and linear probing. A slot holds a number + 1, or 0. At most half of them are used. */
type Table = { slots: Int32Array; used: number }

/** FNV-1a from the end of a name, so that one pass also gives the hashes of all domains above it. */
const SEED = 0x811c9dc5 | 0
const hashed = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193)

function hashOf(name: string): number {
  let hash = SEED
  for (let at = name.length - 1; at >= 0; at--) hash = hashed(hash, name.charCodeAt(at))
  return hash
}

const roomFor = (length: number): number => Math.max(LEAST_ROOM, 1 << (32 - Math.clz32(length - 1)))

/**
 * The domains of all deny sets, each stored once under a number: customers combine the same rules, so sets share most names.
 * A number is free again once no set holds it. Names are ASCII and stored outside the heap, because its collector would
 * stop the process for milliseconds while many arrive.
 */
export class DomainNames {
  readonly #tables: Table[] = Array.from({ length: TABLES }, () => ({ slots: new Int32Array(LEAST_SLOTS), used: 0 }))
  readonly #pages: Page[] = []
  /** Free numbers, by their room. */
  readonly #free = new Map<number, number[]>()
  #size = 0
  #releasing: Promise<void> = Promise.resolve()
  // A connection may judge by a set that no user has any more, so its numbers stay valid until it is unreachable.
  readonly #forgotten = new FinalizationRegistry<readonly NumberSet[]>(sets => {
    void this.release(sets)
  })

  get size(): number {
    return this.#size
  }

  /** The number of a name. Undefined: no set holds it. */
  numberOf(name: string): number | undefined {
    const number = this.#find(hashOf(name), name, 0)
    return number < 0 ? undefined : number
  }

  /**
   * Finds the held names among a name and the domains above it.
   * @param found receives their numbers, shortest name first; entries behind them stay
   * @returns how many there are
   */
  numbersAbove(name: string, found: number[]): number {
    let [hash, count] = [SEED, 0]
    for (let at = name.length - 1; at >= 0; at--) {
      hash = hashed(hash, name.charCodeAt(at))
      if (at > 0 && name.charCodeAt(at - 1) !== DOT) continue
      const number = this.#find(hash, name, at)
      if (number >= 0) found[count++] = number
    }
    return count
  }

  /** The number of the longest held name among a name and the domains above it; -1: none. */
  numberAbove(name: string): number {
    return above[this.numbersAbove(name, above) - 1] ?? -1
  }

  /** The name of a held number. */
  nameOf(number: number): string {
    const { room, bytes, lengths } = this.#pageOf(number)
    const at = (number & (PAGE - 1)) * room
    return bytes.toString('latin1', at, at + (lengths[number & (PAGE - 1)] ?? 0))
  }

  #pageOf(number: number): Page {
    const page = this.#pages[number >>> PAGE_BITS]
    if (page === undefined) throw new RangeError(`no name has the number ${number}`)
    return page
  }

  #tableOf(hash: number): Table {
    const table = this.#tables[hash & (TABLES - 1)]
    if (table === undefined) throw new RangeError('there is a table for each hash')
    return table
  }

  /** The number of the name that starts at `from`; -1: none. */
  #find(hash: number, text: string, from: number): number {
    const { slots } = this.#tableOf(hash)
    const mask = slots.length - 1
    for (let slot = (hash >>> TABLE_BITS) & mask; ; slot = (slot + 1) & mask) {
      const number = (slots[slot] ?? 0) - 1
      if (number < 0 || this.#isNamed(number, hash, text, from)) return number
    }
  }

  #isNamed(number: number, hash: number, text: string, from: number): boolean {
    const { room, bytes, lengths, hashes } = this.#pageOf(number)
    const place = number & (PAGE - 1)
    const length = text.length - from
    if (hashes[place] !== hash || lengths[place] !== length) return false
    for (let n = 0, at = place * room; n < length; n++) if (bytes[at + n] !== text.charCodeAt(from + n)) return false
    return true
  }

  /** Adds a name to a set. */
  hold(name: string, set: NumberSet): void {
    const hash = hashOf(name)
    const known = this.#find(hash, name, 0)
    const number = known < 0 ? this.#store(name, hash) : known
    if (!set.add(number)) return
    const { holders } = this.#pageOf(number)
    holders[number & (PAGE - 1)] = (holders[number & (PAGE - 1)] ?? 0) + 1
  }

  #store(name: string, hash: number): number {
    const number = this.#freeNumber(roomFor(name.length))
    const page = this.#pageOf(number)
    const place = number & (PAGE - 1)
    page.bytes.write(name, place * page.room, 'latin1')
    page.lengths[place] = name.length
    page.hashes[place] = hash
    page.holders[place] = 0
    const table = this.#tableOf(hash)
    if ((table.used + 1) * 2 > table.slots.length) this.#enlarge(table)
    this.#insert(table.slots, number, hash)
    table.used++
    this.#size++
    return number
  }

  #freeNumber(room: number): number {
    const free = this.#free.get(room) ?? []
    this.#free.set(room, free)
    if (free.length === 0) {
      const first = this.#pages.length * PAGE
      const [hashes, holders] = [new Int32Array(PAGE), new Int32Array(PAGE)]
      this.#pages.push({ room, bytes: Buffer.alloc(room * PAGE), lengths: new Uint16Array(PAGE), hashes, holders })
      // Last in, first out: the lowest numbers are used first.
      for (let n = PAGE - 1; n >= 0; n--) free.push(first + n)
    }
    return free.pop() ?? 0
  }

  #hashAt(number: number): number {
    return this.#pageOf(number).hashes[number & (PAGE - 1)] ?? 0
  }

  #enlarge(table: Table): void {
    const slots = new Int32Array(table.slots.length * 2)
    for (const slot of table.slots) if (slot > 0) this.#insert(slots, slot - 1, this.#hashAt(slot - 1))
    table.slots = slots
  }

  #insert(slots: Int32Array, number: number, hash: number): void {
    const mask = slots.length - 1
    let slot = (hash >>> TABLE_BITS) & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = number + 1
  }

  /** Releases the names of these sets once their owner is unreachable. */
  releaseWith(owner: object, sets: readonly NumberSet[]): void {
    this.#forgotten.register(owner, sets)
  }

  /** Releases the names of these sets, in several turns of the loop. */
  release(sets: readonly NumberSet[]): Promise<void> {
    this.#releasing = this.#releasing.then(() => this.#releaseInTurns(sets))
    return this.#releasing
  }

  async #releaseInTurns(sets: readonly NumberSet[]): Promise<void> {
    let done = 0
    for (const set of sets) {
      for (const number of set) {
        this.#drop(number)
        if (++done % NAMES_A_TURN === 0) await nextTurn()
      }
    }
  }

  #drop(number: number): void {
    const { room, hashes, holders } = this.#pageOf(number)
    const place = number & (PAGE - 1)
    const left = (holders[place] ?? 0) - 1
    holders[place] = left
    if (left > 0) return
    this.#remove(number, hashes[place] ?? 0)
    this.#free.get(room)?.push(number)
    this.#size--
  }

  /** Removes a number from its table, and moves displaced ones up so that no search ends at the hole too early. */
  #remove(number: number, hash: number): void {
    const table = this.#tableOf(hash)
    const { slots } = table
    const mask = slots.length - 1
    let hole = (hash >>> TABLE_BITS) & mask
    while (slots[hole] !== number + 1) hole = (hole + 1) & mask
    for (let next = (hole + 1) & mask; slots[next] !== 0; next = (next + 1) & mask) {
      const moved = slots[next] ?? 0
      const home = (this.#hashAt(moved - 1) >>> TABLE_BITS) & mask
      if (((next - home) & mask) < ((next - hole) & mask)) continue
      slots[hole] = moved
      hole = next
    }
    slots[hole] = 0
    table.used--
  }
}

/** Members of one block of 65,536: their low 16 bits, sorted, or a bitmap. */
type Block = { kind: 'list'; members: Uint16Array } | { kind: 'bits'; bits: Uint32Array; count: number }

const WORDS = 65_536 / 32
/** Above this many members a bitmap is smaller than the list. */
const MAX_LISTED = 4096

/**
 * A compact set of whole numbers below 2^32, small or nearly full: at most two bytes per member and 8 KiB per
 * 65,536 numbers ("roaring bitmap").
 */
export class NumberSet {
  readonly #blocks = new Map<number, Block>()
  size = 0

  add(value: number): boolean {
    const block = this.#bitsOf(value >>> 16)
    const word = (value & 0xffff) >>> 5
    const bit = 1 << (value & 31)
    const before = block.bits[word] ?? 0
    if ((before & bit) !== 0) return false
    block.bits[word] = before | bit
    block.count++
    this.size++
    return true
  }

  #bitsOf(high: number): Extract<Block, { kind: 'bits' }> {
    const present = this.#blocks.get(high)
    if (present?.kind === 'bits') return present
    const made = { kind: 'bits' as const, bits: new Uint32Array(WORDS), count: present?.members.length ?? 0 }
    for (const low of present?.members ?? []) made.bits[low >>> 5] = (made.bits[low >>> 5] ?? 0) | (1 << (low & 31))
    this.#blocks.set(high, made)
    return made
  }

  /** Frees spare memory. Members can still be added. */
  shrink(): void {
    for (const [high, block] of this.#blocks) {
      if (block.kind === 'list' || block.count > MAX_LISTED) continue
      this.#blocks.set(high, { kind: 'list', members: Uint16Array.from(lowOf(block.bits)) })
    }
  }

  has(value: number): boolean {
    const block = this.#blocks.get(value >>> 16)
    if (block === undefined) return false
    const low = value & 0xffff
    if (block.kind === 'bits') return ((block.bits[low >>> 5] ?? 0) & (1 << (low & 31))) !== 0
    const { members } = block
    let [from, to] = [0, members.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      if ((members[middle] ?? 0) < low) from = middle + 1
      else to = middle
    }
    return members[from] === low
  }

  *[Symbol.iterator](): Generator<number> {
    for (const [high, block] of this.#blocks) {
      for (const low of block.kind === 'list' ? block.members : lowOf(block.bits)) yield high * 65_536 + low
    }
  }
}

function* lowOf(bits: Uint32Array): Generator<number> {
  for (let word = 0; word < bits.length; word++) {
    for (let left = bits[word] ?? 0; left !== 0; left &= left - 1) yield word * 32 + 31 - Math.clz32(left & -left)
  }
}
