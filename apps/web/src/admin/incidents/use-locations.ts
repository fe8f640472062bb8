import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { status } from '../../api/routes.ts'

/** The locations of plans as options; undefined while loading. */
export const useLocations = () =>
  useQuery(read(status.page)).data?.locations.map(({ id, name }) => ({ value: String(id), label: name }))
