import { describe, expect, it } from 'vitest'
import { merge, withValue } from './merge.ts'

describe('merging what is entered with what another user saved', () => {
  it('takes what was not changed here, and keeps what was', () => {
    expect(merge({ mount: '5', point: '500' }, { mount: '9', point: '500' }, { mount: '5', point: '750' })).toEqual({
      values: { mount: '9', point: '750' },
      taken: [{ path: ['point'], was: '500', is: '750' }],
      clashes: []
    })
  })

  it('names what both changed, unless to the same, and keeps what was entered', () => {
    expect(merge({ a: '1', b: '1' }, { a: '2', b: '2' }, { a: '3', b: '2' })).toEqual({
      values: { a: '2', b: '2' },
      taken: [],
      clashes: [{ path: ['a'], mine: '2', theirs: '3' }]
    })
  })

  it('looks into values one by one, added and removed ones too; a list is one value', () => {
    type Values = { words: Record<string, string>; tags: number[] }
    const base: Values = { words: { one: 'a', two: 'b', three: 'c' }, tags: [1] }
    const mine = { words: { one: 'A', three: 'c', mine: 'm' }, tags: [1, 2] }
    const theirs = { words: { one: 'a', two: 'b', theirs: 't' }, tags: [1, 3] }
    expect(merge(base, mine, theirs)).toEqual({
      values: { words: { one: 'A', mine: 'm', theirs: 't' }, tags: [1, 2] },
      taken: [
        { path: ['words', 'theirs'], was: undefined, is: 't' },
        { path: ['words', 'three'], was: 'c', is: undefined }
      ],
      clashes: [{ path: ['tags'], mine: [1, 2], theirs: [1, 3] }]
    })
  })

  it('keeps what was changed here and removed there, and names both', () => {
    const base: { variants: Record<string, { price: string }> } = { variants: { '7': { price: '1' } } }
    const mine = { variants: { '7': { price: '2' } } }
    expect(merge(base, mine, { variants: {} })).toEqual({
      values: mine,
      taken: [],
      clashes: [{ path: ['variants', '7'], mine: { price: '2' }, theirs: undefined }]
    })
  })

  it('is put in the place of one value', () => {
    expect(withValue({ a: { b: 1, c: 2 } }, ['a', 'b'], 3)).toEqual({ a: { b: 3, c: 2 } })
    expect(withValue({ a: { b: 1, c: 2 } }, ['a', 'b'], undefined)).toEqual({ a: { c: 2 } })
  })
})
