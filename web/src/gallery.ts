/** Development only: every place with made-up sessions, /gallery.html?place=cards. Not in the production build. */

import { mount } from 'svelte'
import './look/tokens.css'
import './look/base.css'
import Cards from './gallery/Cards.svelte'

mount(Cards, { target: document.getElementById('app')! })
