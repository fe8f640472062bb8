import { orderDocuments } from './order-documents.ts'
import { promotionDocuments } from './promotion-documents.ts'

// All queries that the shop sends to the platform. Page sizes keep a call under the platform's limit of 1,000 cost
// points, even by its older formula, which counts each node of a connection in full.

export const API_VERSION = '2026-07'

/** The API version in a header, or null. The platform answers a retired version with its oldest supported one. */
export const versionOf = (header: unknown): string | null =>
  typeof header === 'string' && /^(\d{4}-\d{2}|unstable)$/.test(header) ? header : null

const productFields = /* GraphQL */ `
  id
  title
  descriptionHtml
  status
  publishedAt
  requiresSellingPlan
  tags
  updatedAt
  options {
    name
    values
  }
  collections(first: 10) {
    nodes {
      id
      title
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
  variants(first: 50) {
    nodes {
      id
      title
      price
      position
      selectedOptions {
        name
        value
      }
      availableForSale
      publishedOnPublication(publicationId: $store) @include(if: $withStore)
      inventoryPolicy
      inventoryItem {
        requiresShipping
        tracked
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
`

export const documents = {
  ...orderDocuments,
  ...promotionDocuments,
  products: /* GraphQL */ `
    query Products($after: String, $store: ID!, $withStore: Boolean!) {
      products(first: 5, after: $after, sortKey: ID) {
        nodes {${productFields}}
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  productCount: /* GraphQL */ `
    query ProductCount {
      productsCount(limit: null) {
        count
        precision
      }
    }
  `,
  product: /* GraphQL */ `
    query Product($id: ID!, $store: ID!, $withStore: Boolean!) {
      product(id: $id) {${productFields}}
    }
  `,
  productCollections: /* GraphQL */ `
    query ProductCollections($id: ID!, $after: String) {
      product(id: $id) {
        collections(first: 200, after: $after) {
          nodes {
            id
            title
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  `,
  productVariants: /* GraphQL */ `
    query ProductVariants($id: ID!, $after: String, $store: ID!, $withStore: Boolean!) {
      product(id: $id) {
        variants(first: 200, after: $after) {
          nodes {
            id
            title
            price
            position
            selectedOptions {
              name
              value
            }
            availableForSale
            publishedOnPublication(publicationId: $store) @include(if: $withStore)
            inventoryPolicy
            inventoryItem {
              requiresShipping
              tracked
            }
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  `,
  variants: /* GraphQL */ `
    query Variants($ids: [ID!]!, $store: ID!, $withStore: Boolean!) {
      nodes(ids: $ids) {
        ... on ProductVariant {
          id
          price
          availableForSale
          publishedOnPublication(publicationId: $store) @include(if: $withStore)
          inventoryPolicy
          sellableOnlineQuantity
          inventoryItem {
            requiresShipping
            tracked
          }
          product {
            id
            status
            publishedAt
            requiresSellingPlan
            updatedAt
          }
        }
      }
    }
  `,
  setPrices: /* GraphQL */ `
    mutation SetPrices($productId: ID!, $variants: [ProductVariantsBulkInput!]!) {
      productVariantsBulkUpdate(productId: $productId, variants: $variants) {
        userErrors {
          field
          message
        }
      }
    }
  `,
  shop: /* GraphQL */ `
    query Shop {
      shop {
        name
        currencyCode
        myshopifyDomain
        plan {
          publicDisplayName
        }
      }
      currentAppInstallation {
        accessScopes {
          handle
        }
      }
    }
  `,
  onlineStore: /* GraphQL */ `
    query OnlineStore {
      publications(first: 50, catalogType: APP) {
        nodes {
          id
          catalog {
            ... on AppCatalog {
              apps(first: 5) {
                nodes {
                  handle
                }
              }
            }
          }
        }
      }
    }
  `,
  storePassword: /* GraphQL */ `
    query StorePassword {
      onlineStore {
        passwordProtection {
          enabled
        }
      }
    }
  `,
  collections: /* GraphQL */ `
    query Collections($after: String) {
      collections(first: 100, after: $after, sortKey: ID) {
        nodes {
          id
          title
          descriptionHtml
          image {
            url
            altText
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  productTags: /* GraphQL */ `
    query ProductTags($after: String) {
      productTags(first: 250, after: $after) {
        nodes
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  webhooks: /* GraphQL */ `
    query Webhooks($topics: [WebhookSubscriptionTopic!], $after: String) {
      webhookSubscriptions(first: 100, after: $after, topics: $topics) {
        nodes {
          id
          topic
          uri
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  createWebhook: /* GraphQL */ `
    mutation CreateWebhook($topic: WebhookSubscriptionTopic!, $uri: String!) {
      webhookSubscriptionCreate(topic: $topic, webhookSubscription: { uri: $uri, format: JSON }) {
        webhookSubscription {
          id
        }
        userErrors {
          field
          message
        }
      }
    }
  `,
  deleteWebhook: /* GraphQL */ `
    mutation DeleteWebhook($id: ID!) {
      webhookSubscriptionDelete(id: $id) {
        userErrors {
          field
          message
        }
      }
    }
  `,
  updateWebhook: /* GraphQL */ `
    mutation UpdateWebhook($id: ID!, $uri: String!) {
      webhookSubscriptionUpdate(id: $id, webhookSubscription: { uri: $uri, format: JSON }) {
        webhookSubscription {
          id
        }
        userErrors {
          field
          message
        }
      }
    }
  `
} as const
