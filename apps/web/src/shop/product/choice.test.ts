import type { Variant } from '@netlet/contract'
import { describe, expect, it } from 'vitest'
import { variant as anyVariant } from '../../testing/shapes.ts'
import {
  choiceQuery,
  findVariant,
  firstVariant,
  optionsOf,
  parametersOf,
  pick,
  presets,
  typedNumber,
  readChoice,
  total,
  wholeSteps,
  withRules
} from './choice.ts'

const variant = (id: number, place: string, block: string, variant_stock = 100): Variant => ({
  ...anyVariant,
  id,
  variant_stock,
  variant_option1: place,
  variant_option2: block
})
const variants = [variant(1, 'Paris', '/29', 7), variant(2, 'Paris', '/28'), variant(3, 'Oslo', '/29')]

describe('options', () => {
  it('starts with what can be had', () => expect(firstVariant(variants)?.id).toBe(2))
  it('keeps the other options where that leads to a variant, and gives way where not', () => {
    const paris28 = optionsOf(variants[1] as Variant)
    expect(findVariant(variants, pick(variants, paris28, 'option2', '/29'))?.id).toBe(1)
    expect(findVariant(variants, pick(variants, paris28, 'option1', 'Oslo'))?.id).toBe(3)
    expect(pick(variants, paris28, 'option1', 'Rome')).toEqual(paris28)
  })
  it('survives a journey through the address', () => {
    const choice = { options: { option1: 'A & B', option2: '/29', option3: '' }, rules: [3, 5], quantity: 16 }
    expect(readChoice(new URLSearchParams(choiceQuery(choice)))).toEqual(choice)
    expect(parametersOf({ rules: [] })).toEqual({ acl: null })
    expect(parametersOf({ options: choice.options })).toEqual({ o1: 'A & B', o2: '/29', o3: null })
  })
  it('takes from the address only what an order can be', () => {
    const read = (query: string) => readChoice(new URLSearchParams(query))
    expect(read('acl=x,-1,2.5,4,4,99999999999')).toMatchObject({ rules: [4], quantity: 0 })
    expect(read('q=-8').quantity).toBe(0)
    expect(read('q=1e3').quantity).toBe(0)
    expect(read('q=1000000000').quantity).toBe(0)
    expect(read('q=16').quantity).toBe(16)
    expect(read(`acl=${Array.from({ length: 900 }, (_, at) => at + 1).join(',')}`).rules).toHaveLength(500)
  })
})

describe('quantity', () => {
  it.each([
    [1, 8],
    [11, 8],
    [12, 16],
    [1000, 96],
    [Number.NaN, 8],
    [-8, 8]
  ])('makes %d whole steps: %d', (asked, got) => expect(wholeSteps(asked, 8, 100)).toBe(got))
  it.each([
    ['16', 16],
    ['1,000', 1000],
    ['1.000.000', 1_000_000],
    ['8.5', 8.5],
    ['8,5', 8.5],
    ['', Number.NaN],
    ['.', Number.NaN]
  ])('reads what was typed: %s', (text, number) => expect(typedNumber(text)).toBe(number))
  it('offers doubling steps up to the stock', () => {
    expect(presets(8, 100)).toEqual([8, 16, 32, 64])
    expect(presets(1, 100_000)).toHaveLength(8)
    expect(presets(8, 7)).toEqual([])
  })
  it('shows one step where there is no stock', () => expect(wholeSteps(16, 8, 0)).toBe(8))
})

describe('price', () => {
  it('is exact', () => {
    expect(total('1.10', 256)).toBe('281.60')
    expect(total('0.07', 100_000)).toBe('7000.00')
    expect(withRules('0.10', [{ price: '0.20' }, { price: '0.05' }])).toBe('0.35')
  })
})
