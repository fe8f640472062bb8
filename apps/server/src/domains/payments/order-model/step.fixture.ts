import { expectAll } from './invariants.fixture.ts'
import type { Model, ModelOrder, ModelPayment, ModelServer, Real, Step } from './model.fixture.ts'

/** One step. The invariants are checked after it. */
export const step = (
  name: string,
  run: (model: Model, real: Real) => Promise<void>,
  check: (model: Model) => boolean = () => true
): Step => ({
  toString: () => name,
  check,
  async run(model, real) {
    await run(model, real)
    await expectAll(model, real)
  }
})

/** A step on one of the existing orders. */
export const onOrder = (
  name: string,
  nth: number,
  run: (order: ModelOrder, model: Model, real: Real) => Promise<void>
): Step =>
  step(
    `${name}(${nth})`,
    (model, real) => run(model.orders[nth % model.orders.length] as ModelOrder, model, real),
    model => model.orders.length > 0
  )

/** A step on one of the existing payments, latest first. */
export const onPayment = (
  name: string,
  nth: number,
  run: (payment: ModelPayment, model: Model, real: Real) => Promise<void>
): Step =>
  step(
    `${name}(${nth})`,
    (model, real) => run(model.payments.at(-1 - (nth % model.payments.length)) as ModelPayment, model, real),
    model => model.payments.length > 0
  )

/** A step on one of the servers. */
export const onServer = (
  name: string,
  nth: number,
  run: (server: ModelServer, model: Model, real: Real) => Promise<void>
): Step =>
  step(`${name}(${nth})`, (model, real) => run(model.servers[nth % model.servers.length] as ModelServer, model, real))
