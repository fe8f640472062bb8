import type { Books, ModelPayment } from './model.fixture.ts'

/** Rates that give fractions. */
export const RATES = {
  billing_rate: 1.3,
  invite_rebate_rate: 0.37,
  invite_level_points_per_user: 10,
  coins_hold_days: 7
}
const HOLD = RATES.coins_hold_days * 86_400_000

export const emptyBooks = (): Books => ({
  buyer: { level: 0 },
  inviter: { level: 0, spendable: 0, owed: 0 },
  pending: [],
  earned: new Map(),
  invitation: null
})

export const pendingCoinsOf = (books: Books): number => books.pending.reduce((sum, { coins }) => sum + coins, 0)

/** Coins can be spent after their holding time. */
export function mature(books: Books, now: number): void {
  for (const { coins } of books.pending.filter(({ maturesAt }) => maturesAt <= now)) books.inviter.spendable += coins
  books.pending = books.pending.filter(({ maturesAt }) => maturesAt > now)
}

/** `cents` × a rate with at most two decimals, in ten-thousandths. */
const partsFor = (cents: number, rate: number): number => cents * Math.round(rate * 100)

/** Only the kept part of a payment earns. */
const earnedBy = ({ charged, back }: ModelPayment) => ({
  level: Math.floor(partsFor(charged - back, RATES.billing_rate) / 10_000),
  parts: partsFor(charged - back, RATES.invite_rebate_rate)
})

export const coinPartsOf = ({ earned }: Books): number =>
  [...earned.values()].reduce((sum, { parts }) => sum + parts, 0)

/** Whole coins of all payments together, so fractions add up. */
const coinsOf = (books: Books): number => Math.floor(coinPartsOf(books) / 10_000)

/** A payment counts, or counts again. It earns once, and the coins mature as the first time. */
export function earn(books: Books, payment: ModelPayment, now: number): void {
  if (books.earned.has(payment)) return
  const before = coinsOf(books)
  const earned = earnedBy(payment)
  books.earned.set(payment, earned)
  books.buyer.level += earned.level
  const coins = coinsOf(books) - before
  const withheld = Math.min(books.inviter.owed, coins)
  books.inviter.owed -= withheld
  payment.maturesAt ??= now + HOLD
  books.pending.push({ payment, coins: coins - withheld, maturesAt: payment.maturesAt })
  mature(books, now)
  rewardInvitation(books, payment)
}

function rewardInvitation(books: Books, payment: ModelPayment): void {
  if (books.invitation) return
  books.invitation = payment
  books.inviter.level += RATES.invite_level_points_per_user
}

/** After a partial refund, a payment has earned what its rest earns. */
export function takeBackPart(books: Books, payment: ModelPayment): void {
  const before = books.earned.get(payment)
  if (!before) return
  const coins = coinsOf(books)
  const earned = earnedBy(payment)
  books.earned.set(payment, earned)
  books.buyer.level -= before.level - earned.level
  takeCoins(books, payment, coins - coinsOf(books))
}

/** Takes the payment's own pending coins, then spendable ones, then other pending ones. The rest is owed. */
function takeCoins(books: Books, payment: ModelPayment, coins: number): void {
  let rest = coins
  const takeFrom = (lot: { coins: number }) => {
    const taken = Math.min(rest, lot.coins)
    lot.coins -= taken
    rest -= taken
  }
  const soonest = books.pending.toSorted((a, b) => a.maturesAt - b.maturesAt)
  for (const lot of soonest.filter(one => one.payment === payment)) takeFrom(lot)
  const spent = Math.min(rest, books.inviter.spendable)
  books.inviter.spendable -= spent
  rest -= spent
  for (const lot of soonest.filter(one => one.payment !== payment)) takeFrom(lot)
  books.inviter.owed += rest
}

/** After a full refund. @param standing the oldest payment that still counts */
export function takeBack(books: Books, payment: ModelPayment, standing: ModelPayment | undefined): void {
  const earned = books.earned.get(payment)
  if (earned) {
    const coins = coinsOf(books)
    books.earned.delete(payment)
    books.buyer.level -= earned.level
    takeCoins(books, payment, coins - coinsOf(books))
    books.pending = books.pending.filter(one => one.payment !== payment || one.coins > 0)
  }
  if (books.invitation === payment) {
    books.invitation = null
    books.inviter.level -= RATES.invite_level_points_per_user
  }
  if (standing) rewardInvitation(books, standing)
}

export const halfOf = (payment: ModelPayment): string => (Math.floor(payment.charged / 2) / 100).toFixed(2)
export const amountOf = (cents: number): string => (cents / 100).toFixed(2)
