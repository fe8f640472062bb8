import { sql, type SQL } from '../../infra/db/drizzle.ts'
import { aclRules } from '../inventory/tables.ts'
import { products, tags } from './tables.ts'

/**
 * Visitors never see a platform product whose variants are access rules, nor a tag that only such products carry.
 * Computed from the current rules, so that it takes effect as soon as a rule is added or deleted.
 */
const ruleProducts = sql`array(select ${aclRules.platformProductId} from ${aclRules}
  where ${aclRules.deletedAt} is null and ${aclRules.platformProductId} is not null)`

export const isInternalTag = (): SQL<boolean> =>
  sql<boolean>`(cardinality(${tags.carriers}) > 0 and ${tags.carriers} <@ ${ruleProducts})`

export const isInternalProduct = (): SQL<boolean> => sql<boolean>`(${products.platformId} = any (${ruleProducts}))`

/** Tags with more carriers do not store them: that many products do not all hold rules. */
const MOST_CARRIERS = 20

/** The value of `tags.carriers`: the platform's products that carry a tag, sorted; empty if there are too many. */
export const carriersOf = (productIds: readonly string[]): string[] =>
  productIds.length > MOST_CARRIERS ? [] : [...new Set(productIds)].toSorted()
