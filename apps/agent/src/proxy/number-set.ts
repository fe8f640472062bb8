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
