// Queries about discount codes and customers, with the limits of documents.ts.

/** The app may lack access to customers, so only the codes that have a holder ask for them. */
const discountFields = (at: number) => /* GraphQL */ `
  id
  codeDiscount {
    __typename
    ... on DiscountCodeBasic {
      tags
      status
      usageLimit
      appliesOncePerCustomer
      asyncUsageCount
      minimumRequirement {
        __typename
      }
      context {
        __typename
        ... on DiscountCustomers {
          customers @include(if: $held${at}) {
            id
          }
        }
      }
      customerGets {
        items {
          __typename
        }
        value {
          __typename
          ... on DiscountAmount {
            amount {
              amount
            }
            appliesOnEachItem
          }
          ... on DiscountPercentage {
            percentage
          }
        }
      }
    }
  }
`

/** Codes per lookup. */
export const CODES_A_CALL = 10

const places = Array.from({ length: CODES_A_CALL }, (_, at) => at)

export const promotionDocuments = {
  discounts: /* GraphQL */ `
    query Discounts(${places
      .map(at => `$code${at}: String!, $with${at}: Boolean!, $holder${at}: String!, $held${at}: Boolean!`)
      .join(', ')}) {
      ${places
        .map(
          at => `
      code${at}: codeDiscountNodeByCode(code: $code${at}) @include(if: $with${at}) {${discountFields(at)}}
      holder${at}: customerByIdentifier(identifier: { emailAddress: $holder${at} }) @include(if: $held${at}) { id }`
        )
        .join('\n')}
    }
  `,
  createDiscount: /* GraphQL */ `
    mutation CreateDiscount($discount: DiscountCodeBasicInput!) {
      discountCodeBasicCreate(basicCodeDiscount: $discount) {
        codeDiscountNode {
          id
        }
        userErrors {
          code
          field
          message
        }
      }
    }
  `,
  updateDiscount: /* GraphQL */ `
    mutation UpdateDiscount($id: ID!, $discount: DiscountCodeBasicInput!) {
      discountCodeBasicUpdate(id: $id, basicCodeDiscount: $discount) {
        userErrors {
          code
          field
          message
        }
      }
    }
  `,
  endDiscount: /* GraphQL */ `
    mutation EndDiscount($id: ID!) {
      discountCodeDeactivate(id: $id) {
        userErrors {
          code
          field
          message
        }
      }
    }
  `,
  customer: /* GraphQL */ `
    query Customer($email: String!) {
      customerByIdentifier(identifier: { emailAddress: $email }) {
        id
        tags
      }
    }
  `,
  customers: /* GraphQL */ `
    query Customers($after: String) {
      customers(first: 100, after: $after, sortKey: ID) {
        nodes {
          id
          defaultEmailAddress {
            emailAddress
          }
          tags
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  setCustomer: /* GraphQL */ `
    mutation SetCustomer($email: String!) {
      customerSet(identifier: { email: $email }, input: { email: $email }) {
        customer {
          id
        }
        userErrors {
          field
          message
        }
      }
    }
  `,
  tagCustomer: /* GraphQL */ `
    mutation TagCustomer($id: ID!, $add: [String!]!, $withAdd: Boolean!, $remove: [String!]!, $withRemove: Boolean!) {
      tagsRemove(id: $id, tags: $remove) @include(if: $withRemove) {
        userErrors {
          field
          message
        }
      }
      tagsAdd(id: $id, tags: $add) @include(if: $withAdd) {
        userErrors {
          field
          message
        }
      }
    }
  `
} as const
