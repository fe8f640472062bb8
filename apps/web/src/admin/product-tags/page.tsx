import type { Tag } from '@netlet/contract'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { TagForm } from '../../kit/schemas.ts'
import { StateBadge } from '../../kit/state-badge.tsx'
import { SyncButton } from '../catalog-sync/sync-button.tsx'
import { clip } from '../catalog-sync/clipped-text.tsx'
import { areaField, column, defineResource, inChinese, integer, optional, textField } from '../kit/index.ts'

const name = textField('tag_name')
const desc = optional(areaField('tag_desc'))

/** The platform's tags as shown in the shop. Tags without a name are hidden. */
export default defineResource({
  key: 'product-tags',
  list: catalog.tags,
  address: ['sync'],
  also: [catalog.products],
  nameOf: tag => tag.tag_name,
  columns: [
    integer('id', { optional: true }),
    column('tag_name', (tag: Tag) => <NameCell tag={tag} />, { lead: true }),
    column('tag_desc', (tag: Tag) => clip(tag.tag_desc), { wide: true })
  ],
  form: {
    schema: TagForm,
    fields: [name, desc, inChinese('name', name), inChinese('desc', desc)],
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

function NameCell({ tag }: { tag: Tag }) {
  const t = useT()
  if (!tag.is_internal) return tag.tag_name
  return (
    <>
      {tag.tag_name}{' '}
      <span title={t('product-tags.internalHint')}>
        <StateBadge tone="off">{t('product-tags.internal')}</StateBadge>
      </span>
    </>
  )
}
