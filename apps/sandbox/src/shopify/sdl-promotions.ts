/** Discount codes and customers, as far as the stand-in answers for them: a part of the schema in sdl.ts. */
export const promotionsSdl = /* GraphQL */ `
  enum DiscountStatus {
    ACTIVE
    EXPIRED
    SCHEDULED
  }
  enum DiscountBuyerSelection {
    ALL
  }
  enum DiscountErrorCode {
    BLANK
    INVALID
    TAKEN
    VALUE_OUTSIDE_RANGE
  }
  enum CustomerSortKeys {
    ID
  }

  type CustomerEmailAddress {
    emailAddress: String!
  }
  type Customer implements Node {
    id: ID!
    defaultEmailAddress: CustomerEmailAddress
    tags: [String!]!
    createdAt: DateTime!
    updatedAt: DateTime!
  }
  type CustomerConnection {
    nodes: [Customer!]!
    pageInfo: PageInfo!
  }

  type DiscountBuyerSelectionAll {
    all: DiscountBuyerSelection!
  }
  type DiscountCustomers {
    customers: [Customer!]!
  }
  union DiscountContext = DiscountBuyerSelectionAll | DiscountCustomers
  type AllDiscountItems {
    allItems: Boolean!
  }
  union DiscountItems = AllDiscountItems
  type DiscountAmount {
    amount: MoneyV2!
    appliesOnEachItem: Boolean!
  }
  type DiscountPercentage {
    percentage: Float!
  }
  union DiscountCustomerGetsValue = DiscountAmount | DiscountPercentage
  type DiscountCustomerGets {
    items: DiscountItems!
    value: DiscountCustomerGetsValue!
  }
  type DiscountMinimumQuantity {
    greaterThanOrEqualToQuantity: UnsignedInt64!
  }
  scalar UnsignedInt64
  union DiscountMinimumRequirement = DiscountMinimumQuantity
  type DiscountCombinesWith {
    orderDiscounts: Boolean!
  }
  type DiscountCodeBasic {
    title: String!
    tags: [String!]!
    status: DiscountStatus!
    startsAt: DateTime!
    endsAt: DateTime
    usageLimit: Int
    appliesOncePerCustomer: Boolean!
    asyncUsageCount: Int!
    context: DiscountContext!
    customerGets: DiscountCustomerGets!
    minimumRequirement: DiscountMinimumRequirement
    combinesWith: DiscountCombinesWith!
  }
  union DiscountCode = DiscountCodeBasic
  type DiscountCodeNode implements Node {
    id: ID!
    codeDiscount: DiscountCode!
  }
  type DiscountUserError {
    code: DiscountErrorCode
    field: [String!]
    message: String!
  }

  input DiscountAmountInput {
    amount: Decimal
    appliesOnEachItem: Boolean
  }
  input DiscountCustomerGetsValueInput {
    discountAmount: DiscountAmountInput
    percentage: Float
  }
  input DiscountItemsInput {
    all: Boolean
  }
  input DiscountCustomerGetsInput {
    items: DiscountItemsInput
    value: DiscountCustomerGetsValueInput
  }
  input DiscountCustomersInput {
    add: [ID!]
    remove: [ID!]
  }
  input DiscountContextInput {
    all: DiscountBuyerSelection
    customers: DiscountCustomersInput
  }
  input DiscountCombinesWithInput {
    orderDiscounts: Boolean
  }
  input DiscountCodeBasicInput {
    title: String
    code: String
    tags: [String!]
    startsAt: DateTime
    endsAt: DateTime
    usageLimit: Int
    appliesOncePerCustomer: Boolean
    context: DiscountContextInput
    customerGets: DiscountCustomerGetsInput
    combinesWith: DiscountCombinesWithInput
  }
  type DiscountCodeBasicCreatePayload {
    codeDiscountNode: DiscountCodeNode
    userErrors: [DiscountUserError!]!
  }
  type DiscountCodeBasicUpdatePayload {
    codeDiscountNode: DiscountCodeNode
    userErrors: [DiscountUserError!]!
  }
  type DiscountCodeDeactivatePayload {
    codeDiscountNode: DiscountCodeNode
    userErrors: [DiscountUserError!]!
  }

  input CustomerIdentifierInput {
    emailAddress: String
  }
  input CustomerSetIdentifiers {
    email: String
  }
  input CustomerSetInput {
    email: String
  }
  type CustomerSetUserError {
    field: [String!]
    message: String!
  }
  type CustomerSetPayload {
    customer: Customer
    userErrors: [CustomerSetUserError!]!
  }

  extend type QueryRoot {
    codeDiscountNodeByCode(code: String!): DiscountCodeNode
    customerByIdentifier(identifier: CustomerIdentifierInput!): Customer
    customers(first: Int, after: String, sortKey: CustomerSortKeys): CustomerConnection!
  }
  extend type Mutation {
    discountCodeBasicCreate(basicCodeDiscount: DiscountCodeBasicInput!): DiscountCodeBasicCreatePayload
    discountCodeBasicUpdate(id: ID!, basicCodeDiscount: DiscountCodeBasicInput!): DiscountCodeBasicUpdatePayload
    discountCodeDeactivate(id: ID!): DiscountCodeDeactivatePayload
    customerSet(identifier: CustomerSetIdentifiers, input: CustomerSetInput!): CustomerSetPayload
  }
`
