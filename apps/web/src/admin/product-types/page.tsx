import type { Collection } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'
import { catalog } from '../../api/routes.ts'
import { CollectionForm } from '../../kit/schemas.ts'
import { SyncButton } from '../catalog-sync/sync-button.tsx'
import { clip } from '../catalog-sync/clipped-text.tsx'
import { areaField, column, defineResource, inChinese, integer, optional, textField } from '../kit/index.ts'

const name = textField('collection_name')
const desc = optional(areaField('collection_desc'))

/** The platform's collections as shown in the shop. Edited names and texts survive a sync. */
export default defineResource({
  key: 'product-types',
  list: catalog.collections,
  address: ['sync'],
  also: [catalog.products],
  nameOf: type => type.collection_name,
  columns: [
    integer('id', { optional: true }),
    column('collection_name', (type: Collection) => type.collection_name, { lead: true }),
    column('collection_desc', (type: Collection) => clip(type.collection_desc), { wide: true }),
    column(
      'product_count',
      (type: Collection) => <Link to={`${pageAt('productManager')}?collection=${type.id}`}>{type.product_count}</Link>,
      { align: 'end' }
    )
  ],
  form: {
    schema: CollectionForm,
    fields: [name, desc, inChinese('name', name), inChinese('desc', desc)],
    update: catalog.updateCollection
  },
  remove: {
    route: catalog.deleteCollection,
    confirm: (t, type) => ({
      title: t('list.deleteTitle'),
      body: t('product-types.deleteBody', { name: type.collection_name, count: type.product_count }),
      danger: true
    })
  },
  toolbar: () => <SyncButton of="collections" />,
  csv: true
})
