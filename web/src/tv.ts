import { site } from './lib/config.svelte'
import { TvSession } from './lib/tv.svelte'

void site.load()
const code = new URLSearchParams(location.search).get('code')
const session = new TvSession()
if (code) session.watch(code)
