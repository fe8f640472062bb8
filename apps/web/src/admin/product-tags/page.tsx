import type { Tag } from '@netlet/contract'
import { catalog } from '../../api/routes.ts'
import { TagForm } from '../../kit/schemas.ts'
import { clip } from '../catalog-sync/clip.tsx'
import { SyncButton } from '../catalog-sync/sync-button.tsx'
import { areaField, column, defineResource, integer, optional, textField } from '../kit/index.ts'

/** The platform's tags as the shop shows them; those without a name are not listed. */
export default defineResource({
  key: 'product-tags',
  list: catalog.tags,
  address: ['sync'],
  also: [catalog.products],
  nameOf: tag => tag.tag_name,
  columns: [
    integer('id', { optional: true }),
    column('tag_name', (tag: Tag) => tag.tag_name, { lead: true }),
    column('tag_desc', (tag: Tag) => clip(tag.tag_desc), { wide: true })
  ],
  form: {
    schema: TagForm,
    fields: [textField('tag_name'), optional(areaField('tag_desc'))],
    update: catalog.updateTag,
    undo: true
  },
  remove: {
    route: catalog.deleteTag,
    confirm: (t, tag) => ({
      title: t('list.deleteTitle'),
      body: t('product-tags.deleteBody', { name: tag.tag_name }),
      danger: true
    })
  },
  toolbar: () => <SyncButton of="tags" />,
  csv: true
})
