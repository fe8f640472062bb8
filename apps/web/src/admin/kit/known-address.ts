import { useEffect } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { FIXED, RESULTS } from './list-state.ts'
import type { Resource, Row } from './resource.ts'

/** Removes parameters from the address that nothing on the screen reads. */
export function useKnownAddress<R extends Row>({
  filters,
  address,
  addressOfDrawer,
  addressOfDetail
}: Resource<R>): void {
  const { search, hash, state } = useLocation()
  const navigate = useNavigate()
  useEffect(() => {
    const params = new URLSearchParams(search)
    const known = new Set([
      'menu',
      'full',
      ...Object.keys(FIXED),
      ...Object.keys(RESULTS),
      ...filters.map(({ key }) => key),
      ...(address ?? []),
      ...((params.has('open') && addressOfDrawer) || []),
      ...((params.has('detail') && addressOfDetail) || [])
    ])
    const strange = [...params.keys()].filter(key => !known.has(key))
    if (strange.length === 0) return
    for (const key of strange) params.delete(key)
    void navigate({ search: params.toString(), hash }, { replace: true, state: state as unknown })
  }, [search, hash, state, navigate, filters, address, addressOfDrawer, addressOfDetail])
}
