import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { inventory } from '../../api/routes.ts'
import type { Option } from '../kit/resource.ts'

/** As many rules as pickers offer. */
const LIMIT = 500

/** The rules on sale to choose from, by their ids; undefined until they are known. */
export function useRules(): Option[] | undefined {
  const { data } = useQuery(read(inventory.rules, { query: { limit: LIMIT } }))
  return data?.data.map(({ id, name }) => ({ value: String(id), label: name }))
}
