import { sql, type SQL } from 'drizzle-orm'
import { aclRules } from '../inventory/tables.ts'
import { products, tags } from './tables.ts'

/**
 * What is internal never reaches visitors: a product of the platform whose variants are access rules, and a tag that only
 * such products carry. It follows from the rules that there are now, so that a rule that is added or deleted tells at once.
 */
const ruleProducts = sql`array(select ${aclRules.platformProductId} from ${aclRules}
  where ${aclRules.deletedAt} is null and ${aclRules.platformProductId} is not null)`

export const isInternalTag = (): SQL<boolean> =>
  sql<boolean>`(cardinality(${tags.carriers}) > 0 and ${tags.carriers} <@ ${ruleProducts})`

export const isInternalProduct = (): SQL<boolean> => sql<boolean>`(${products.platformId} = any (${ruleProducts}))`

/** More carriers than this are not written down: that many products hold no rules. */
const MOST_CARRIERS = 20

/** What `tags.carriers` holds of the platform's products that carry a tag: in one order, or nothing of many. */
export const carriersOf = (productIds: readonly string[]): string[] =>
  productIds.length > MOST_CARRIERS ? [] : [...new Set(productIds)].toSorted()
