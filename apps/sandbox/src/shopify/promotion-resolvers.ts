import type { Store } from '../kit/store.ts'
import { connection, gid, idOf, type PageArgs, type UserError } from './present-orders.ts'
import {
  customerFor,
  customersOf,
  type DiscountCode,
  nextId,
  type PlatformCustomer,
  type PlatformState
} from './state.ts'
import { findDiscount, statusOf, usesOf } from './pricing.ts'

type DiscountInput = {
  title?: string
  code?: string
  tags?: string[]
  startsAt?: string
  endsAt?: string | null
  usageLimit?: number | null
  appliesOncePerCustomer?: boolean
  context?: { all?: 'ALL'; customers?: { add?: string[]; remove?: string[] } }
  customerGets?: { value?: { percentage?: number; discountAmount?: { amount?: string } } }
  combinesWith?: { orderDiscounts?: boolean }
  minimumRequirement?: { quantity?: { greaterThanOrEqualToQuantity?: string | null } }
}

/** The schema's fields about discount codes and customers. */
export function promotionResolvers(store: Store<PlatformState>, { now }: { now: () => Date }) {
  const { data: state } = store

  const customer = (one: PlatformCustomer) => ({
    __typename: 'Customer',
    id: gid('Customer', one.id),
    defaultEmailAddress: { emailAddress: one.email },
    tags: one.tags,
    createdAt: one.createdAt,
    updatedAt: one.updatedAt
  })
  const node = (one: DiscountCode) => ({
    __typename: 'DiscountCodeNode',
    id: gid('DiscountCodeNode', idFor(one)),
    codeDiscount: {
      __typename: 'DiscountCodeBasic',
      title: one.title ?? one.code,
      tags: one.tags ?? [],
      status: statusOf(one, now().getTime()),
      startsAt: one.startsAt ?? '2026-01-05T09:00:00.000Z',
      endsAt: one.endsAt ?? null,
      usageLimit: one.usageLimit ?? null,
      appliesOncePerCustomer: one.oncePerCustomer ?? false,
      asyncUsageCount: usesOf(state, one).length,
      context: one.customers
        ? {
            __typename: 'DiscountCustomers',
            customers: customersOf(state)
              .filter(({ id }) => one.customers?.includes(id))
              .map(customer)
          }
        : { __typename: 'DiscountBuyerSelectionAll', all: 'ALL' },
      customerGets: {
        items: { __typename: 'AllDiscountItems', allItems: true },
        value:
          one.type === 'percentage'
            ? { __typename: 'DiscountPercentage', percentage: Number(one.value) / 100 }
            : {
                __typename: 'DiscountAmount',
                amount: { amount: one.value, currencyCode: 'USD' },
                appliesOnEachItem: false
              }
      },
      minimumRequirement: one.minimum
        ? { __typename: 'DiscountMinimumQuantity', greaterThanOrEqualToQuantity: String(one.minimum) }
        : null,
      combinesWith: { orderDiscounts: one.combines ?? true }
    }
  })
  // Codes of the demo and of the control API get an id when they are first read.
  const idFor = (one: DiscountCode) => (one.id ??= nextId(state))

  /** The platform's errors for an input. */
  function errorsOf(input: DiscountInput, self: DiscountCode | undefined) {
    const field = ['basicCodeDiscount']
    const wrong = (name: string, code: string, message: string) => [{ field: [...field, name], code, message }]
    if (!self && !input.code) return wrong('code', 'BLANK', "Code can't be blank")
    const taken = input.code === undefined ? undefined : findDiscount(state, input.code)
    if (taken && taken !== self) return wrong('code', 'TAKEN', 'Code must be unique. Please try a different code.')
    const value = input.customerGets?.value
    const { percentage } = value ?? {}
    if (percentage !== undefined && (percentage < 0 || percentage > 1))
      return wrong('customerGets', 'VALUE_OUTSIDE_RANGE', 'Percentage must be between 0.0 and 1.0')
    if (!self && percentage === undefined && value?.discountAmount?.amount === undefined)
      return wrong('customerGets', 'BLANK', "Value can't be blank")
    const unknown = (input.context?.customers?.add ?? []).find(
      id => !customersOf(state).some(one => one.id === idOf(id, 'Customer'))
    )
    return unknown === undefined ? [] : wrong('context', 'INVALID', 'Customer does not exist')
  }

  function write(discount: DiscountCode, input: DiscountInput): void {
    const { title, code, tags, startsAt, endsAt, usageLimit, context, customerGets, combinesWith } = input
    if (title !== undefined) discount.title = title
    if (code !== undefined) discount.code = code
    if (tags !== undefined) discount.tags = tags
    if (startsAt !== undefined) discount.startsAt = startsAt
    if (endsAt !== undefined) discount.endsAt = endsAt
    if (usageLimit !== undefined) discount.usageLimit = usageLimit
    if (input.appliesOncePerCustomer !== undefined) discount.oncePerCustomer = input.appliesOncePerCustomer
    if (combinesWith?.orderDiscounts !== undefined) discount.combines = combinesWith.orderDiscounts
    const least = input.minimumRequirement?.quantity?.greaterThanOrEqualToQuantity
    if (least !== undefined) discount.minimum = least === null ? null : Number(least)
    const { percentage, discountAmount } = customerGets?.value ?? {}
    if (percentage !== undefined) {
      discount.type = 'percentage'
      discount.value = String(Math.round(percentage * 10_000) / 100)
    } else if (discountAmount?.amount !== undefined) {
      discount.type = 'fixed_amount'
      discount.value = discountAmount.amount
    }
    if (context?.all) discount.customers = null
    if (context?.customers) {
      const ids = (all: string[] = []) => all.flatMap(id => idOf(id, 'Customer') ?? [])
      const removed = new Set(ids(context.customers.remove))
      const kept = (discount.customers ?? []).filter(id => !removed.has(id))
      discount.customers = [...new Set([...kept, ...ids(context.customers.add)])]
    }
  }

  const byId = (id: string) => state.discountCodes.find(one => idFor(one) === idOf(id, 'DiscountCodeNode'))
  const gone = {
    codeDiscountNode: null,
    userErrors: [{ field: ['id'], code: 'INVALID', message: 'Discount does not exist' }]
  }

  return {
    codeDiscountNodeByCode({ code }: { code: string }) {
      const found = findDiscount(state, code)
      return found ? node(found) : null
    },
    customerByIdentifier({ identifier }: { identifier: { emailAddress?: string } }) {
      const found = customersOf(state).find(({ email }) => email === identifier.emailAddress)
      return found ? customer(found) : null
    },
    customers: (args: PageArgs) => connection(customersOf(state), args, customer),

    async discountCodeBasicCreate({ basicCodeDiscount: input }: { basicCodeDiscount: DiscountInput }) {
      const userErrors = errorsOf(input, undefined)
      if (userErrors.length > 0) return { codeDiscountNode: null, userErrors }
      const made: DiscountCode = { code: input.code ?? '', type: 'fixed_amount', value: '0' }
      write(made, input)
      state.discountCodes.push(made)
      const answer = { codeDiscountNode: node(made), userErrors }
      await store.save()
      return answer
    },
    async discountCodeBasicUpdate(args: { id: string; basicCodeDiscount: DiscountInput }) {
      const found = byId(args.id)
      if (!found) return gone
      const userErrors = errorsOf(args.basicCodeDiscount, found)
      if (userErrors.length > 0) return { codeDiscountNode: null, userErrors }
      write(found, args.basicCodeDiscount)
      await store.save()
      return { codeDiscountNode: node(found), userErrors }
    },
    async discountCodeDeactivate({ id }: { id: string }) {
      const found = byId(id)
      if (!found) return gone
      if (statusOf(found, now().getTime()) !== 'EXPIRED') found.endsAt = now().toISOString()
      await store.save()
      return { codeDiscountNode: node(found), userErrors: [] }
    },
    async customerSet(args: { identifier?: { email?: string }; input: { email?: string } }) {
      const email = args.input.email ?? args.identifier?.email ?? ''
      if (!/^[^@\s]+@[^@\s]+$/.test(email))
        return {
          customer: null,
          userErrors: [{ field: ['input', 'email'], message: 'Email is invalid' }] as UserError[]
        }
      const found = customerFor(state, email, now().toISOString())
      await store.save()
      return { customer: customer(found), userErrors: [] as UserError[] }
    },

    /** Changes a customer's tags; undefined if the id is not a customer's. */
    changeCustomerTags: async (id: string, change: (tags: string[]) => string[]) => {
      const customerId = idOf(id, 'Customer')
      if (customerId === null) return undefined
      const found = customersOf(state).find(one => one.id === customerId)
      if (!found)
        return { node: null, userErrors: [{ field: ['id'], message: 'Customer does not exist' }] as UserError[] }
      found.tags = change(found.tags)
      found.updatedAt = now().toISOString()
      await store.save()
      return { node: customer(found), userErrors: [] as UserError[] }
    }
  }
}
