import fc from 'fast-check'
import { HOUR, MINUTE, DAY } from '../../../infra/clock.ts'
import { ORDERS, type Step } from './model.fixture.ts'
import * as money from './steps-of-money.fixture.ts'
import * as orders from './steps-of-orders.fixture.ts'
import * as servers from './steps-of-servers.fixture.ts'
import * as time from './steps-of-time.fixture.ts'

/** Steps by name, for sequences that a test writes out. */
export const makeSteps = {
  place: orders.place,
  cancel: orders.cancel,
  pay: orders.pay,
  confirm: orders.confirm,
  renew: orders.renew,
  ...money,
  ...servers,
  ...time
}

const nth = fc.nat({ max: ORDERS - 1 })
/** An index into the payments, latest first. */
const latest = fc.nat({ max: 5 })
const either = fc.nat({ max: 1 })
const server = fc.nat({ max: 2 })
const always = fc.constant(null)

const often = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({ weight, arbitrary })

/** All steps with their weights. Add new ones here. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  often(
    8,
    fc.tuple(either, fc.integer({ min: 1, max: 16 })).map(([rule, blocks]) => orders.place(rule, blocks))
  ),
  often(2, nth.map(orders.cancel)),
  often(10, nth.map(orders.pay)),
  often(2, nth.map(orders.payShort)),
  often(7, nth.map(orders.renew)),
  often(4, nth.map(orders.deliver)),
  often(18, server.map(orders.confirm)),

  often(
    4,
    fc.tuple(latest, fc.constantFrom('whole', 'half')).map(([n, part]) => money.refund(n, part))
  ),
  often(
    3,
    fc.tuple(latest, fc.constantFrom('rest', 'half')).map(([n, part]) => money.refundInConsole(n, part))
  ),
  often(1, latest.map(money.refundAgain)),
  often(
    1,
    latest.map(n => money.cancelOnPlatform(n, n % 2 === 0 ? 'refunded' : 'paid'))
  ),
  often(1, latest.map(money.openChargeback)),
  often(1, latest.map(money.loseChargeback)),
  often(3, latest.map(money.winChargeback)),
  often(1, latest.map(money.winUnopened)),
  often(1, latest.map(money.inquire)),
  often(6, fc.constantFrom('one', 'all', 'all', 'oneTooMany', 'pendingToo').map(money.spend)),

  often(2, server.map(servers.silence)),
  often(3, server.map(servers.answer)),
  often(1, server.map(servers.pause)),
  often(3, server.map(servers.resume)),
  often(2, server.map(servers.drain)),
  often(3, server.map(servers.giveUp)),
  often(3, server.map(servers.takeBack)),
  often(6, always.map(servers.rescue)),

  often(5, fc.constantFrom(10 * MINUTE, 31 * MINUTE, 12 * HOUR, 25 * HOUR, 8 * DAY, 15 * DAY).map(time.wait)),
  often(14, always.map(time.waitForNext)),
  often(2, always.map(time.timeOut)),
  often(8, always.map(time.expire)),
  often(5, always.map(time.endGrace)),
  often(2, always.map(time.endRest))
)
