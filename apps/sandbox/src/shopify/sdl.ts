import { promotionsSdl } from './sdl-promotions.ts'

const shopSdl = /* GraphQL */ `
  schema {
    query: QueryRoot
    mutation: Mutation
  }

  scalar DateTime
  scalar Decimal
  scalar HTML
  scalar Money
  scalar URL

  enum ProductStatus {
    ACTIVE
    ARCHIVED
    DRAFT
    UNLISTED
  }
  enum ProductSortKeys {
    ID
  }
  enum CollectionSortKeys {
    ID
  }
  enum OrderSortKeys {
    UPDATED_AT
  }
  directive @idempotent(key: String!) on FIELD

  enum OrderDisplayFinancialStatus {
    PAID
    PARTIALLY_REFUNDED
    REFUNDED
  }
  enum OrderTransactionKind {
    REFUND
    SALE
  }
  enum OrderTransactionStatus {
    SUCCESS
  }
  enum CurrencyCode {
    EUR
    USD
    VND
  }
  enum WebhookSubscriptionFormat {
    JSON
  }
  enum WebhookSubscriptionTopic {
    DISPUTES_CREATE
    DISPUTES_UPDATE
    ORDERS_CANCELLED
    ORDERS_PAID
    PRODUCTS_CREATE
    PRODUCTS_DELETE
    PRODUCTS_UPDATE
    REFUNDS_CREATE
  }

  interface Node {
    id: ID!
  }
  type PageInfo {
    hasNextPage: Boolean!
    endCursor: String
  }
  type UserError {
    field: [String!]
    message: String!
  }
  type Image {
    url: URL!
    altText: String
  }
  type SelectedOption {
    name: String!
    value: String!
  }
  type ProductOption implements Node {
    id: ID!
    name: String!
    position: Int!
    values: [String!]!
  }
  type ProductVariant implements Node {
    id: ID!
    title: String!
    price: Money!
    position: Int!
    product: Product!
    selectedOptions: [SelectedOption!]!
  }
  type ProductVariantConnection {
    nodes: [ProductVariant!]!
    pageInfo: PageInfo!
  }
  type Collection implements Node {
    id: ID!
    title: String!
    description: String!
    descriptionHtml: HTML!
    image: Image
  }
  type CollectionConnection {
    nodes: [Collection!]!
    pageInfo: PageInfo!
  }
  type Product implements Node {
    id: ID!
    title: String!
    descriptionHtml: HTML!
    status: ProductStatus!
    tags: [String!]!
    createdAt: DateTime!
    updatedAt: DateTime!
    options: [ProductOption!]!
    collections(first: Int, after: String): CollectionConnection!
    variants(first: Int, after: String): ProductVariantConnection!
  }
  type ProductConnection {
    nodes: [Product!]!
    pageInfo: PageInfo!
  }
  type StringConnection {
    nodes: [String!]!
    pageInfo: PageInfo!
  }
  type MoneyV2 {
    amount: Decimal!
    currencyCode: CurrencyCode!
  }
  type MoneyBag {
    presentmentMoney: MoneyV2!
    shopMoney: MoneyV2!
  }
  type Attribute {
    key: String!
    value: String
  }
  type Order implements Node {
    id: ID!
    name: String!
    number: Int!
    email: String
    note: String
    tags: [String!]!
    createdAt: DateTime!
    updatedAt: DateTime!
    cancelledAt: DateTime
    currencyCode: CurrencyCode!
    presentmentCurrencyCode: CurrencyCode!
    netPaymentSet: MoneyBag!
    displayFinancialStatus: OrderDisplayFinancialStatus
    test: Boolean!
    lineItems(first: Int, after: String): LineItemConnection!
    refunds(first: Int): [Refund!]!
    transactions(first: Int): [OrderTransaction!]!
    discountCodes: [String!]!
    customAttributes: [Attribute!]!
    totalPriceSet: MoneyBag!
    subtotalPriceSet: MoneyBag
    totalDiscountsSet: MoneyBag
  }
  type LineItem implements Node {
    id: ID!
    title: String!
    quantity: Int!
    currentQuantity: Int!
    variant: ProductVariant
    originalUnitPriceSet: MoneyBag!
  }
  type LineItemConnection {
    nodes: [LineItem!]!
    pageInfo: PageInfo!
  }
  type Refund implements Node {
    id: ID!
    totalRefundedSet: MoneyBag!
    transactions(first: Int): OrderTransactionConnection!
  }
  type OrderTransactionConnection {
    nodes: [OrderTransaction!]!
    pageInfo: PageInfo!
  }
  type OrderTransaction implements Node {
    id: ID!
    kind: OrderTransactionKind!
    status: OrderTransactionStatus!
    gateway: String
    amountSet: MoneyBag!
  }
  type OrderConnection {
    nodes: [Order!]!
    pageInfo: PageInfo!
  }
  type Shop implements Node {
    id: ID!
    name: String!
    currencyCode: CurrencyCode!
    myshopifyDomain: String!
  }
  type AccessScope {
    handle: String!
  }
  type AppInstallation implements Node {
    id: ID!
    accessScopes: [AccessScope!]!
  }
  type WebhookSubscription implements Node {
    id: ID!
    topic: WebhookSubscriptionTopic!
    uri: String!
    format: WebhookSubscriptionFormat!
  }
  type WebhookSubscriptionConnection {
    nodes: [WebhookSubscription!]!
    pageInfo: PageInfo!
  }

  enum CountPrecision {
    AT_LEAST
    EXACT
  }
  type Count {
    count: Int!
    precision: CountPrecision!
  }

  type QueryRoot {
    nodes(ids: [ID!]!): [Node]!
    shop: Shop!
    currentAppInstallation: AppInstallation!
    product(id: ID!): Product
    products(first: Int, after: String, sortKey: ProductSortKeys): ProductConnection!
    productsCount(limit: Int = 10000): Count
    collections(first: Int, after: String, sortKey: CollectionSortKeys): CollectionConnection!
    productTags(first: Int, after: String): StringConnection
    order(id: ID!): Order
    refund(id: ID!): Refund
    orders(first: Int, after: String, query: String, sortKey: OrderSortKeys): OrderConnection!
    webhookSubscriptions(first: Int, after: String, topics: [WebhookSubscriptionTopic!]): WebhookSubscriptionConnection!
  }

  input OrderInput {
    id: ID!
    note: String
  }
  input ProductVariantsBulkInput {
    id: ID
    price: Money
  }
  type ProductVariantsBulkUpdateUserError {
    field: [String!]
    message: String!
  }
  type ProductVariantsBulkUpdatePayload {
    userErrors: [ProductVariantsBulkUpdateUserError!]!
  }
  input OrderTransactionInput {
    amount: Money!
    gateway: String!
    kind: OrderTransactionKind!
    orderId: ID!
    parentId: ID
  }
  input RefundInput {
    currency: CurrencyCode
    orderId: ID!
    note: String
    notify: Boolean
    transactions: [OrderTransactionInput!]
  }
  type RefundCreatePayload {
    order: Order
    refund: Refund
    userErrors: [UserError!]!
  }
  input WebhookSubscriptionInput {
    uri: String
    format: WebhookSubscriptionFormat
  }
  type TagsAddPayload {
    node: Node
    userErrors: [UserError!]!
  }
  type TagsRemovePayload {
    node: Node
    userErrors: [UserError!]!
  }
  type OrderUpdatePayload {
    order: Order
    userErrors: [UserError!]!
  }
  type WebhookSubscriptionCreatePayload {
    webhookSubscription: WebhookSubscription
    userErrors: [UserError!]!
  }
  type WebhookSubscriptionDeletePayload {
    deletedWebhookSubscriptionId: ID
    userErrors: [UserError!]!
  }
  type WebhookSubscriptionUpdatePayload {
    webhookSubscription: WebhookSubscription
    userErrors: [UserError!]!
  }
  type Mutation {
    tagsAdd(id: ID!, tags: [String!]!): TagsAddPayload
    tagsRemove(id: ID!, tags: [String!]!): TagsRemovePayload
    productVariantsBulkUpdate(productId: ID!, variants: [ProductVariantsBulkInput!]!): ProductVariantsBulkUpdatePayload
    webhookSubscriptionDelete(id: ID!): WebhookSubscriptionDeletePayload
    orderUpdate(input: OrderInput!): OrderUpdatePayload
    refundCreate(input: RefundInput!): RefundCreatePayload
    webhookSubscriptionCreate(
      topic: WebhookSubscriptionTopic!
      webhookSubscription: WebhookSubscriptionInput!
    ): WebhookSubscriptionCreatePayload
    webhookSubscriptionUpdate(id: ID!, webhookSubscription: WebhookSubscriptionInput!): WebhookSubscriptionUpdatePayload
  }
`

/** The part of the platform's Admin schema that the stand-in answers. A test holds it against the real one. */
export const sdl = `${shopSdl}${promotionsSdl}`
