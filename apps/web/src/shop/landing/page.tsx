import { pageAt } from '@netlet/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { Button } from '@mantine/core'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/index.ts'
import { BlockArt } from '../../kit/block-art.tsx'
import { useSkipTarget } from '../../kit/skip-links.ts'
import { numberOf, useAddress } from '../../kit/use-address.ts'
import { useTitle } from '../../kit/use-title.ts'
import { Below } from './below.tsx'
import { CollectionSlider } from './collection-slider.tsx'
import classes from './landing.module.css'
import { ProductTable } from './product-table.tsx'
import { Proof } from './proof.tsx'
import { TagPicker } from './tag-picker.tsx'

/** Largest number of tags in a query. */
const MOST = 20

/** The unique tags in an address (`?tags=1,2`). Invalid ids are ignored. */
const tagsIn = (query: URLSearchParams): number[] =>
  [...new Set((query.get('tags') ?? '').split(',').flatMap(part => numberOf(part) ?? []))].slice(0, MOST)

/** Rows on the landing page before 'See more'. */
const ROWS = 8

export function Landing() {
  const t = useT()
  useTitle(t('landing.title'))
  useSkipTarget('plans', t('skip.plans'))
  const { query, change } = useAddress()
  const tags = tagsIn(query)
  const setTags = (ids: number[]) => change({ tags: ids.join(',') || null }, { push: true })
  const all = useQuery({ ...read(catalog.products, { query: { limit: ROWS } }), enabled: tags.length === 0 })
  const matching = useQuery({
    ...read(catalog.recommended, { query: { tags: tags.join(',') } }),
    enabled: tags.length > 0
  })
  const shown = tags.length > 0 ? matching : all
  const products = tags.length > 0 ? matching.data?.slice(0, ROWS) : all.data?.data

  return (
    <>
      <section className="band">
        <div className="wide hero">
          <div className="hero-words">
            <h1>{t('landing.title')}</h1>
            <p className="hero-lead">{t('landing.lead')}</p>
            <div className="row hero-actions">
              <Button component={Link} to={pageAt('product')} size="md" className={classes.act}>
                {t('landing.browse')}
              </Button>
              <Button component={Link} to={pageAt('support')} size="md" variant="default" className={classes.other}>
                {t('landing.ask')}
              </Button>
            </div>
            <p className="hero-note">{t('landing.note')}</p>
          </div>
          <BlockArt seed="127.10.0.0/16" cols={26} rows={14} letter={{ x: 16, y: 3 }} className={classes.art} />
        </div>
      </section>
      <Proof />
      <CollectionSlider />
      <section className={`wide ${classes.find}`} aria-labelledby="find">
        <h2 id="find">{t('landing.find')}</h2>
        <p className="dim" style={{ marginTop: '0.25rem' }}>
          {t('landing.findHint')}
        </p>
        <TagPicker applied={tags} onConfirm={setTags} />
        <div id="plans">
          <ProductTable
            products={products}
            pending={shown.isPending}
            error={shown.error}
            rows={ROWS}
            onRetry={() => void shown.refetch()}
            onReset={tags.length > 0 ? () => setTags([]) : undefined}
          />
        </div>
      </section>
      <Below />
    </>
  )
}
