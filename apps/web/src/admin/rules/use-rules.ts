import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { inventory } from '../../api/routes.ts'
import type { Option } from '../kit/resource.ts'

/** The number of rules in a picker. */
const LIMIT = 500

/** Rules on sale as options; undefined while loading. */
export function useRules(): Option[] | undefined {
  const { data } = useQuery(read(inventory.rules, { query: { limit: LIMIT } }))
  return data?.data.map(({ id, name }) => ({ value: String(id), label: name }))
}
