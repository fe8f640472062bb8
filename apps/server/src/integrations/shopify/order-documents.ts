const lineFragment = /* GraphQL */ `
  fragment Line on LineItem {
    id
    title
    quantity
    currentQuantity
    variant {
      id
    }
    originalUnitPriceSet {
      shopMoney {
        amount
      }
    }
  }
`

const orderFields = /* GraphQL */ `
  id
  name
  number
  email
  note
  tags
  createdAt
  updatedAt
  cancelledAt
  currencyCode
  displayFinancialStatus
  test
  discountCodes
  lineItems(first: 10) {
    nodes {
      ...Line
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
  refunds(first: 20) {
    id
    totalRefundedSet {
      shopMoney {
        amount
      }
      presentmentMoney {
        amount
        currencyCode
      }
    }
  }
  disputes {
    id
    initiatedAs
    status
  }
  customAttributes {
    key
    value
  }
  fullyPaid
  totalReceivedSet {
    shopMoney {
      amount
    }
    presentmentMoney {
      amount
      currencyCode
    }
  }
  subtotalPriceSet {
    shopMoney {
      amount
    }
  }
  totalDiscountsSet {
    shopMoney {
      amount
    }
  }
`

export const orderDocuments = {
  order: /* GraphQL */ `
    query Order($id: ID!) {
      order(id: $id) {${orderFields}}
    }
    ${lineFragment}
  `,
  orderLines: /* GraphQL */ `
    query OrderLines($id: ID!, $after: String) {
      order(id: $id) {
        lineItems(first: 200, after: $after) {
          nodes {
            ...Line
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
    ${lineFragment}
  `,
  orderTransactions: /* GraphQL */ `
    query OrderTransactions($id: ID!) {
      order(id: $id) {
        currencyCode
        presentmentCurrencyCode
        netPaymentSet {
          ...BothMoneys
        }
        transactions(first: 50) {
          id
          kind
          status
          gateway
          manualPaymentGateway
          amountSet {
            ...BothMoneys
          }
          parentTransaction {
            id
          }
        }
        suggestedRefund(suggestFullRefund: true) {
          suggestedTransactions {
            parentTransaction {
              id
            }
            maximumRefundableSet {
              ...BothMoneys
            }
          }
        }
      }
    }
    fragment BothMoneys on MoneyBag {
      shopMoney {
        amount
      }
      presentmentMoney {
        amount
      }
    }
  `,
  openPayments: /* GraphQL */ `
    query OpenPayments($id: ID!) {
      order(id: $id) {
        transactions(first: 50) {
          id
          kind
          status
          manualPaymentGateway
          parentTransaction {
            id
          }
        }
      }
    }
  `,
  refund: /* GraphQL */ `
    mutation Refund($input: RefundInput!, $key: String!) {
      refundCreate(input: $input) @idempotent(key: $key) {
        refund {
          id
        }
        userErrors {
          field
          message
        }
      }
    }
  `,
  refundStatus: /* GraphQL */ `
    query RefundStatus($id: ID!) {
      refund(id: $id) {
        transactions(first: 20) {
          nodes {
            id
            status
            amountSet {
              shopMoney {
                amount
              }
              presentmentMoney {
                amount
                currencyCode
              }
            }
            parentTransaction {
              id
            }
          }
        }
      }
    }
  `,
  orders: /* GraphQL */ `
    query Orders($query: String!, $after: String) {
      orders(first: 7, after: $after, query: $query, sortKey: UPDATED_AT) {
        nodes {${orderFields}}
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  ${lineFragment}
  `,
  disputes: /* GraphQL */ `
    query Disputes($query: String!, $after: String) {
      disputes(first: 100, after: $after, query: $query, reverse: true) {
        nodes {
          id
          type
          status
          finalizedOn
          amount {
            amount
            currencyCode
          }
          order {
            id
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  tagOrder: /* GraphQL */ `
    mutation TagOrder(
      $id: ID!
      $tags: [String!]!
      $without: [String!]!
      $withRemoval: Boolean!
      $note: String
      $withNote: Boolean!
    ) {
      tagsRemove(id: $id, tags: $without) @include(if: $withRemoval) {
        userErrors {
          field
          message
        }
      }
      tagsAdd(id: $id, tags: $tags) {
        userErrors {
          field
          message
        }
      }
      orderUpdate(input: { id: $id, note: $note }) @include(if: $withNote) {
        userErrors {
          field
          message
        }
      }
    }
  `
} as const
