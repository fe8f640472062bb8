import type { Endpoint } from '../../api/client.ts'
import type { FormSchema, Named, Resource, Row, RowOf, Spec } from './resource.ts'
import { ResourceScreen } from './screen.tsx'

/**
 * Declares a screen over one list of the contract. Types check it: a column's key must be in the list's rows, a sort or
 * filter in its query, a field in the form's schema, and each needs a word in the console's catalogue.
 */
export function defineResource<const K extends Named, L extends Endpoint, S extends FormSchema = FormSchema>(
  spec: Spec<K, L, RowOf<L>, S>
) {
  const resource = { sort: [], filters: [], rowActions: [], ...spec } as unknown as Resource<RowOf<L> & Row>
  /** `search`: the default search if the address has none. */
  function ResourcePage({ search }: { search?: string }) {
    return <ResourceScreen resource={resource} search={search} />
  }
  return Object.assign(ResourcePage, { resource })
}
